/** Streamable HTTP with a server and a transport for each session, as the examples of both SDKs have it. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

export async function serveSessions(makeServer, makeTransport) {
  const transports = new Map();
  const server = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = transports.get(id);
    if (id && !transport) {
      response.writeHead(404).end();
      return;
    }
    if (!transport) {
      transport = makeTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (session) => transports.set(session, transport) });
      transport.onclose = () => transports.delete(transport.sessionId);
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
