import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromAttributes, toAttributes } from '../../functions/aws/attributes.ts';

const value = fc.jsonValue({ maxDepth: 4 }).filter((json) => !JSON.stringify(json).includes('-0'));
const item = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
  fc.oneof(value, fc.constant(undefined)),
);

test("what an item holds is what the SDK's own conversion makes of it", () => {
  fc.assert(
    fc.property(item, (given) => {
      const safe = JSON.stringify(given) ?? '';
      // The SDK refuses an object with a name of its own that is `constructor`.
      fc.pre(!/\d{16}|e[+-]|__proto__|"constructor"/.test(safe));
      expect(toAttributes(given)).toEqual(marshall(given, { removeUndefinedValues: true }));
      expect(fromAttributes(marshall(given, { removeUndefinedValues: true }))).toEqual(
        unmarshall(marshall(given, { removeUndefinedValues: true })),
      );
    }),
  );
});

test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [() => 1], [Symbol('s')], [10n]])(
  '%s is refused, not stored as something else',
  (given) => {
    expect(() => toAttributes({ given })).toThrow(/^an item cannot hold /);
    expect(() => toAttributes({ list: [{ given }] })).toThrow(TypeError);
  },
);

test('an attribute of a type that is never written here does not keep the rest from being read', () => {
  expect(fromAttributes({ set: { SS: ['a'] }, n: { N: '1' } })).toEqual({ set: { SS: ['a'] }, n: 1 });
});
