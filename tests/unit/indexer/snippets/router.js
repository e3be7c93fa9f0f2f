'use strict';

const { EventEmitter } = require('events');
const parse = require('./parse');
import { compile, match as matches } from './pattern.js';
import Layer from './layer.js';

const METHODS = ['get', 'post', 'put'];
let counter = 0;

/**
 * Answer requests by their path.
 */
class Router extends EventEmitter {
  #layers = [];
  static strict = true;

  constructor(options = {}) {
    super();
    this.options = options;
  }

  /** How many layers are there? */
  get size() {
    return this.#layers.length;
  }

  use(path, ...handlers) {
    for (const handler of handlers) {
      this.#layers.push(new Layer(compile(path), handler));
    }
    return this;
  }

  async *matching(request) {
    for (const layer of this.#layers) {
      if (matches(layer.pattern, request.path)) {
        yield layer;
      }
    }
  }

  async handle(request, response) {
    // a layer that throws hands over to the error handlers, in the order in which they were added,
    // and the first of them that answers ends the request
    for await (const layer of this.matching(request)) {
      try {
        await layer.handler(request, response);
      } catch (error) {
        this.emit('error', error, request);
        response.status(error.status || 500).end(String(error.message || 'something went wrong'));
        return;
      }
      if (response.finished) {
        counter += 1;
        return;
      }
    }
    response.status(404).end(`no answer for ${request.method} ${request.path}`);
  }
}

// Shared by all routers of a process.
export const createRouter = (options) => new Router(options);

const compose = async function (...handlers) {
  return handlers.reduceRight(
    (next, handler) => () => handler(next),
    () => undefined,
  );
};

Router.prototype.mount = function mount(path, router) {
  router.parent = this;
  return this.use(path, router);
};

export default function listen(router, port = 8080) {
  const server = http.createServer(router.handle);
  server.listen(port);
}

module.exports = {
  METHODS,
  redirect(path) {
    return (request, response) => response.redirect(path);
  },
  wait: (delay) =>
    new Promise((resolve) => {
      setTimeout(resolve, delay);
    }),
};

describe('Router', () => {
  it('answers', async () => {
    const router = createRouter();
    expect(router.size).toBe(0);
  });
});
