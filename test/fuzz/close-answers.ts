/** Closes the schemas of all answers, so that a field which the document does not name is found. */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Bodies of requests stay as they are, and what they are made of: agents' bodies are open on purpose. */
export function closeAnswers(document: unknown): unknown {
  const components = isObject(document) && isObject(document['components']) ? document['components'] : {};
  const schemas = isObject(components['schemas']) ? components['schemas'] : {};
  const open = new Set<string>();
  for (const name of bodiesIn(document)) withParts(name, schemas, open);
  const judged = Object.entries(schemas).map(([name, schema]) => [name, open.has(name) ? schema : closed(schema)]);
  return {
    ...(isObject(document) ? document : {}),
    components: { ...components, schemas: Object.fromEntries(judged) },
  };
}

const REF = '#/components/schemas/';
const refsIn = (part: unknown): string[] =>
  [...JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([text]) =>
    text.slice(REF.length + 1, -1),
  );

/** The shapes that requests name. */
function bodiesIn(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(bodiesIn);
  if (!isObject(part)) return [];
  return Object.entries(part).flatMap(([key, value]) => (key === 'requestBody' ? refsIn(value) : bodiesIn(value)));
}

function withParts(name: string, schemas: Json, found: Set<string>): void {
  if (found.has(name)) return;
  found.add(name);
  for (const part of refsIn(schemas[name])) withParts(part, schemas, found);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const open = isObject(schema['properties']) && schema['additionalProperties'] === undefined;
  return open ? { ...inner, additionalProperties: false } : inner;
}
