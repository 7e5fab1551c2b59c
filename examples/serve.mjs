// Serves an example, and the built package under /caphost/, on PORT (8080): node serve.mjs <example>

import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [name = 'parent-and-frame'] = process.argv.slice(2);
const { PORT: port = '8080' } = process.env;
const roots = { caphost: join(here, '..', 'pkg'), example: join(here, name) };
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.wasm': 'application/wasm' };

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
  const [root, rest] = path.startsWith('/caphost/') ? [roots.caphost, path.slice('/caphost/'.length)] : [roots.example, path];
  const file = normalize(join(root, rest.endsWith('/') || rest === '' ? `${rest}index.html` : rest));
  if (!file.startsWith(root + sep) || !existsSync(file)) return response.writeHead(404).end('Not found');
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
  return createReadStream(file).pipe(response);
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
