import js from '@eslint/js';
import globals from 'globals';

const nodeFiles = ['examples/**/*.mjs', 'examples/*/*.config.js', 'docs/.vitepress/*.mjs', 'conformance/**/*.mjs', 'scripts/**/*.mjs', 'tests/**/*.mjs', 'npm/*.node.js', '*.mjs'];

export default [
  { ignores: ['pkg/**', 'pkg.fresh/**', 'target/**', 'www/dist/**', 'www/dist.fresh/**', 'docs/public/api/**', 'docs/public/caphost/**', 'examples/*/pkg/**', 'examples/*/dist/**', 'examples/*/target/**', 'src/web/bundled/**', 'node_modules/**'] },
  js.configs.recommended,
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'eqeqeq': ['error', 'always', { null: 'ignore' }],
      'no-implicit-globals': 'error',
      'no-shadow-restricted-names': 'error',
      'no-throw-literal': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-useless-rename': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
    },
  },
  {
    files: ['npm/**/*.js', 'examples/**/*.js', 'src/web/js/**/*.js', 'gateway/src/**/*.js', 'www/page/**/*.js', 'docs/public/**/*.js', 'tests/**/*.js', 'scripts/bench/page/in-page/**'],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
  },
  {
    files: ['examples/extension/*.js'],
    languageOptions: { globals: globals.webextensions },
  },
  {
    files: nodeFiles,
    languageOptions: { globals: globals.node },
  },
  {
    // Functions that these files hand to page.evaluate run in a page. Handlers under test may throw any
    // value.
    files: ['tests/**/*.mjs', 'tests/**/*.js'],
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      'no-throw-literal': 'off',
      'no-restricted-syntax': ['error', {
        selector: "CallExpression[arguments.length>0][callee.property.name=/^(click|\\$eval)$/], CallExpression[callee.object.name=/^(page|popup|frame)$/][callee.property.name=/^(focus|type|tap|hover)$/]",
        message: 'It does not wait for what it needs: take tests/e2e/support/hands.mjs.',
      }],
    },
  },
];
