import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

// Tells Vue that <cap-activity> is no component.
const isCustomElement = (tag) => tag.startsWith('cap-');

const { PORT } = process.env;
const server = PORT === undefined ? {} : { port: Number(PORT) };

export default defineConfig({ plugins: [vue({ template: { compilerOptions: { isCustomElement } } })], server, preview: server });
