import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed } from '../../../scripts/test/licenses.mjs';

const allowed = new Set(['MIT', 'ISC', 'Unicode-3.0', 'Apache-2.0 WITH LLVM-exception']);

test('a license expression is allowed if the licenses that it requires are allowed', () => {
  for (const expression of [
    'MIT', '(MIT)', 'MIT OR GPL-3.0', 'GPL-3.0 OR MIT', 'MIT/GPL-3.0', 'GPL-3.0 / MIT', 'MIT AND ISC',
    '(MIT OR Apache-2.0) AND Unicode-3.0', 'Apache-2.0 WITH LLVM-exception OR Apache-2.0', 'GPL-3.0 AND MIT OR ISC',
  ]) assert.equal(isAllowed(expression, allowed), true, expression);
});

test('no other expression is allowed, and no malformed expression', () => {
  for (const expression of [
    '', 'GPL-3.0', 'Apache-2.0', 'MIT WITH LLVM-exception', 'MIT AND GPL-3.0', '(MIT OR ISC) AND GPL-3.0', 'GPL-3.0 AND (MIT OR ISC)',
    'MIT ISC', '(MIT', 'MIT)', 'OR MIT', 'MIT AND', 'mit',
  ]) assert.equal(isAllowed(expression, allowed), false, expression);
});
