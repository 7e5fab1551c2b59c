import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

// Vue is told that <cap-activity> is no component.
const isCustomElement = (tag) => tag.startsWith('cap-');

export default defineConfig({ plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] });
