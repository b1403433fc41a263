/** What a schema says of a body. */
export type Schema = {
  safeParse: (body: unknown) => {
    success: boolean;
    error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } | undefined;
  };
};

/** Each refusal with its path, as the API answers it. */
export const issues = (schema: Schema, body: unknown): string[] =>
  (schema.safeParse(body).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);

export const accepts = (schema: Schema, body: unknown): boolean => schema.safeParse(body).success;
