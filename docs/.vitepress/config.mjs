import { defineConfig } from 'vitepress';

/** The address of everything outside of the site. */
const forge = 'https://github.com/caphost/caphost';

/** @param {string} text @param {string} link */
const page = (text, link) => ({ text, link });

/** A page that another tool makes. The browser loads it as a separate page. @param {string} text @param {string} link */
const foreign = (text, link) => ({ text, link, target: '_self' });

const base = process.env.CAPHOST_DOCS_BASE ?? '/';

export default defineConfig({
  title: 'caphost',
  description: 'A capability host for browser apps: calls that can be cancelled, and confirmations that are true',
  lang: 'en',
  cleanUrls: false,
  // With a relative base, the site works in any folder of any server.
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }]],
  outDir: '../target/docs',
  cacheDir: '../target/docs-cache',
  markdown: {
    // These themes are darker and lighter than the default themes: comments reach a contrast of 4.5.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Links to files outside of the site lead to the forge.
    config: (md) => {
      // The name of a file follows the language of its block, as in `js app.js`, and is shown above the
      // block.
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, at, ...rest) => {
        const [, name] = /^\S+\s+([\w./-]+\.\w+)/.exec(tokens[at]?.info ?? '') ?? [];
        const block = fence?.(tokens, at, ...rest) ?? '';
        return name ? `<div class="file"><p class="file-name">${md.utils.escapeHtml(name)}</p>${block}</div>` : block;
      };
      md.core.ruler.push('forge-links', ({ tokens, env }) => {
        for (const { children } of tokens) {
          for (const token of children ?? []) {
            if (token.type !== 'link_open') continue;
            const { origin, pathname, hash } = new URL(token.attrGet('href') ?? '', `http://repository/docs/${env.relativePath}`);
            const outside = origin === 'http://repository' && (!pathname.startsWith('/docs/') || /\.(json|svg|mjs)$/.test(pathname));
            if (outside) token.attrSet('href', `${forge}/blob/main${pathname}${hash}`);
          }
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [page('Start', '/start/javascript'), page('Guide', '/guide/cancellation'), page('Reference', '/reference/errors'), page('Protocol', '/protocol'), page('Playground', '/playground')],
    socialLinks: [{ icon: 'github', link: forge }],
    sidebar: [
      {
        text: 'Start in five minutes',
        items: [
          page('An app in JavaScript', '/start/javascript'),
          page('An app in Rust', '/start/rust'),
          page('Playwright or Puppeteer', '/start/automation'),
          page('A page, a worker or Node', '/start/agents'),
          page('An MCP client', '/start/mcp'),
          page('A shell', '/start/command-line'),
          page('A gateway', '/start/operator'),
          page('Playground', '/playground'),
          page('Examples', `${forge}/tree/main/examples`),
        ],
      },
      {
        text: 'Guide',
        items: [
          page('Cancellation', '/guide/cancellation'),
          page('Types', '/guide/typescript'),
          page('Schemas', '/guide/schemas'),
          page('Test your app', '/guide/testing'),
          page('Transports', '/guide/transports'),
          page('Show people what agents do', '/guide/activity'),
          page('Ask a person first', '/guide/consent'),
          page('React, Vue and Yew', '/guide/frameworks'),
          page('Capabilities in workers', '/workers'),
          page('Bundlers and CSP', '/guide/bundlers'),
        ],
      },
      {
        text: 'Reference',
        items: [
          foreign('The npm package, in full', '/api/js/index.html'),
          foreign('The crate, in full', '/api/rust/caphost/index.html'),
          page('Errors', '/reference/errors'),
          page('Limits', '/reference/limits'),
          page('Security', '/reference/security'),
          page('The command line', '/command-line'),
          page('Protocol', '/protocol'),
          page('Differences from the sources', '/sources'),
          page('A cancellation suite for any peer', '/conformance'),
        ],
      },
      {
        text: 'The gateway',
        items: [
          page('Configuration', '/configuration'),
          page('Operation', '/operation'),
          page('Several workers', '/cluster'),
        ],
      },
      { text: 'Inside', items: [page('Architecture', '/architecture'), page('Benchmarks', '/benchmarks')] },
    ],
  },
});
