import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trim } from '../../../scripts/build/glue.mjs';

const glue = `
class Handle {
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.a(ptr, 0);
    }
    /**
     * @param {number} number
     * @returns {number}
     */
    static ask(number, request) {
        const ret = wasm.b(number, request);
        return ret >>> 0;
    }
    static name(number) {
        const ret = wasm.c(number);
        return decode(ret);
    }
}
if (Symbol.dispose) Handle.prototype[Symbol.dispose] = Handle.prototype.free;
const HandleFinalization = (typeof FinalizationRegistry === 'undefined')
    ? { register: () => {}, unregister: () => {} }
    : new FinalizationRegistry(ptr => wasm.a(ptr, 1));
        A: function(arg0, arg1, arg2) {
            arg0.answer(arg1 >>> 0, arg2);
            view.setInt32((arg0 >>> 0) + 4, arg2, true);
        },
    wasm = instance.exports;
`;

test('what only passes on its arguments is the module\'s own, the rest stays as it is', () => {
  assert.equal(trim(glue), `
export class Handle {
    static name(number) {
        const ret = wasm.c(number);
        return decode(ret);
    }
}
        A: function(arg0, arg1, arg2) {
            arg0.answer(arg1, arg2);
            view.setInt32((arg0 >>> 0) + 4, arg2, true);
        },
    wasm = instance.exports;
    Object.assign(Handle, { ask: wasm.b });
`);
});
