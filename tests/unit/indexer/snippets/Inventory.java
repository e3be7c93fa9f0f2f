package com.acme.shop;

import java.util.List;
import static java.util.Objects.requireNonNull;

/**
 * What is in the warehouse.
 */
@Service
public class Inventory<T extends Item> extends Repository<T> implements Auditable, Closeable {
    private static final int LIMIT = 100;

    private final List<T> items = new ArrayList<>();

    public Inventory(Clock clock) {
        super(clock);
        this.items.clear();
    }

    /** How many are left? */
    @Override
    public int count(String sku) {
        return (int) items.stream().filter(item -> item.sku().equals(sku)).count();
    }

    public <R> List<R> mapAll(Function<? super T, ? extends R> mapper) throws IOException {
        requireNonNull(mapper);
        List<R> result = new ArrayList<>();
        for (T item : items) {
            if (result.size() >= LIMIT) {
                throw new IOException("the warehouse has more than " + LIMIT + " items, ask for less");
            }
            result.add(mapper.apply(item));
        }
        return result;
    }

    @Transactional(readOnly = false)
    public synchronized void move(String sku, Shelf from, Shelf to) {
        T item = from.take(sku).orElseThrow(() -> new MissingItem(sku));
        try {
            to.put(item);
            audit("moved %s from %s to %s".formatted(sku, from.label(), to.label()));
        } catch (ShelfFull full) {
            from.put(item);
            throw full;
        }
    }

    /** One place on a shelf. */
    public record Slot(String shelf, int position) {
        public Slot {
            if (position < 0) {
                throw new IllegalArgumentException("a position counts from zero");
            }
        }
    }

    static class Shelf {
        private final Map<String, Item> places = new HashMap<>();

        void put(Item item) {
            places.put(item.sku(), item);
        }
    }
}

interface Item {
    String sku();

    default boolean sold() {
        return false;
    }
}

enum State {
    FREE,
    TAKEN {
        @Override
        boolean blocked() {
            return true;
        }
    };

    boolean blocked() {
        return false;
    }
}

@interface Audited {
    String value() default "";
}
