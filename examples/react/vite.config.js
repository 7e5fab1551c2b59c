import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { PORT } = process.env;
const server = PORT === undefined ? {} : { port: Number(PORT) };

export default defineConfig({ plugins: [react()], server, preview: server });
