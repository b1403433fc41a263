// @ts-nocheck
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** A server on 127.0.0.1. */
export interface Loopback {
  readonly port: number;
  readonly url: string;
  readonly close: () => Promise<void>;
}

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Listens on 127.0.0.1 and nowhere else; port 0 takes a free one. A listener that rejects is answered 500. */
export async function listenOnLoopback(
  port: number,
  listener: RequestListener,
  options: { readonly maxHeaderSize?: number } = {},
): Promise<Loopback> {
  const server = createServer(options, (request, response) => {
    listener(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: error instanceof Error ? error.message : String(error) }));
    });
  });
  return openPort(server, port);
}

/** Has a server listen on 127.0.0.1, and says where. */
export async function openPort(server: Server, port: number): Promise<Loopback> {
  // An idle connection stays: closing it just as the SDK takes it again would fail a request that may not be repeated.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has an address with a port');
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      const closed = new Promise<void>((resolve, reject) => {
        server.close((error) => {
          if (error === undefined || error === null) resolve();
          else reject(error);
        });
      });
      server.closeIdleConnections();
      const lingering = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearTimeout(lingering);
    },
  };
}

/** Reads a body; null when it is longer than `maxBytes`. The rest is read all the same, so that the answer arrives. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    // The cast holds: no encoding is set on the request, so that each chunk is a Buffer.
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length <= maxBytes) chunks.push(bytes);
  }
  return length <= maxBytes ? Buffer.concat(chunks) : null;
}
