// A forward proxy as a process of its own: CONNECT and absolute-form requests, one line on stdout for each.
import { createServer, request } from 'node:http';
import { connect } from 'node:net';

const server = createServer((incoming, answer) => {
  console.log(`${incoming.method} ${incoming.url}`);
  const url = new URL(incoming.url);
  const { ['proxy-authorization']: _mine, ...headers } = incoming.headers;
  const onward = request(url, { method: incoming.method, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  incoming.pipe(onward);
});
server.on('connect', (incoming, socket, head) => {
  console.log(`CONNECT ${incoming.url}`);
  if (process.env.REFUSE !== undefined) {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    return;
  }
  const [host, port] = incoming.url.split(':');
  const onward = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    onward.write(head);
    onward.pipe(socket);
    socket.pipe(onward);
  });
  onward.on('error', () => socket.destroy());
  socket.on('error', () => onward.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
