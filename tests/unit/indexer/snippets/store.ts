import type { Clock } from "./clock";
import { Observable } from "rxjs";
import * as path from "node:path";

export type Id = string | number;

export type Change<T> = { kind: "put"; value: T } | { kind: "drop"; id: Id };

/** What can be kept. */
export interface Entity<T = unknown> extends Identified, Dated {
  readonly id: Id;
  value: T;
  describe?(): string;
}

export enum Level {
  Low = 1,
  High = 2,
}

declare module "rxjs" {
  interface Observable<T> {
    settled(): Promise<T>;
  }
}

export namespace Keys {
  export const separator = ":";

  export function join(...parts: string[]): string {
    return parts.join(separator);
  }
}

/** A store in memory. */
@Injectable({ scope: "app" })
export abstract class Store<T extends Entity> implements Disposable, Reader<T> {
  private readonly entries = new Map<Id, T>();
  static instances = 0;

  constructor(private clock: Clock) {
    Store.instances += 1;
  }

  abstract flush(): Promise<void>;

  get(id: Id): T | undefined;
  get(id: Id, fallback: T): T;
  get(id: Id, fallback?: T): T | undefined {
    return this.entries.get(id) ?? fallback;
  }

  /** Keep a value, and tell those who watch. The promise settles when all of them have been told. */
  @logged
  async put(entity: T, level: Level = Level.Low): Promise<Change<T>> {
    const change: Change<T> = { kind: "put", value: entity };
    this.entries.set(entity.id, entity);
    if (level === Level.High) {
      await this.flush();
    }
    for (const watcher of this.watchers.filter((one) => one.level <= level)) {
      await watcher.notify(change, this.clock.now(), path.basename(Keys.join("store", String(entity.id))));
    }
    return change;
  }

  protected onDrop = (id: Id): void => {
    this.entries.delete(id);
    this.changes.next({ kind: "drop", id });
  };

  [Symbol.dispose](): void {
    this.entries.clear();
    this.changes.complete();
    Store.instances -= 1;
    console.log("the store is closed, nothing is kept any more, and whoever asks will be told so");
  }
}

export const latest = <T extends Entity>(entities: readonly T[]): T | undefined => {
  return [...entities].sort(byTime).at(-1);
};

export default class MemoryStore extends Store<Entity> {
  async flush() {}
}
