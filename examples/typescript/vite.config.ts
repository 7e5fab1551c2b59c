import { defineConfig } from 'vite';

// With these two headers a handler in a worker sees `cancelled()` at once. Without them everything else
// works, but the worker of such a handler has to be terminated.
const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
const { PORT } = process.env;
const server = PORT === undefined ? { headers } : { headers, port: Number(PORT) };

export default defineConfig({
  build: { target: 'es2022', rollupOptions: { input: ['index.html', 'app.html'] } },
  worker: { format: 'es' },
  server,
  preview: server,
});
