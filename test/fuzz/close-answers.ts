/** Closes the schemas of all answers, so that a field which the document does not name is found. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Bodies of requests stay as they are: agents' bodies are open on purpose. */
export function closeAnswers(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(closeAnswers);
  if (!isObject(document)) return document;
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      key === 'responses' || key === 'schemas' ? closed(value) : closeAnswers(value),
    ]),
  );
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const open = isObject(schema['properties']) && schema['additionalProperties'] === undefined;
  return open ? { ...inner, additionalProperties: false } : inner;
}
