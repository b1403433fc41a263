// @ts-nocheck
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Credential } from './credentials.ts';

/** A request as it came over the wire. */
export interface SignedRequest {
  readonly method: string;
  /** The request target: path and query, as sent. */
  readonly target: string;
  /** Lower-case names; a header that was sent twice is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Refusal =
  | 'MissingAuthenticationTokenException'
  | 'IncompleteSignatureException'
  | 'UnrecognizedClientException'
  | 'InvalidSignatureException'
  | 'SignatureExpiredException';

export type Verified =
  | { readonly ok: true; readonly credential: Credential }
  | { readonly ok: false; readonly code: Refusal; readonly message: string };

export interface VerifyOptions {
  readonly region: string;
  readonly service: string;
  readonly nowMs: number;
  readonly find: (accessKeyId: string) => Credential | null;
}

/** How far `x-amz-date` may be from our clock, either way, as AWS allows. */
const SKEW_MS = 5 * 60_000;

const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request,\s*SignedHeaders=([a-z0-9;_-]+),\s*Signature=([0-9a-f]{64})$/;

const refused = (code: Refusal, message: string): Verified => ({ ok: false, code, message });

/**
 * Verifies an AWS Signature Version 4 in the Authorization header (IAM user guide, "Signing AWS API requests"): scope,
 * clock, payload, session token, and the signature itself, recomputed by the SDK's own signer over exactly the headers
 * that were named as signed.
 */
export async function verifySigV4(request: SignedRequest, options: VerifyOptions): Promise<Verified> {
  const { headers } = request;
  const authorization = headers['authorization'];
  if (authorization === undefined)
    return refused('MissingAuthenticationTokenException', 'Missing Authentication Token');
  const parts = HEADER.exec(authorization);
  if (parts === null) return refused('IncompleteSignatureException', 'Authorization header is not a SigV4 header');
  const [, accessKeyId = '', day = '', region, service, signedList = '', signature = ''] = parts;
  if (region !== options.region || service !== options.service) {
    return refused('InvalidSignatureException', `Credential should be scoped to ${options.region}/${options.service}`);
  }
  const signed = signedList.split(';');
  const badHeader = wrongHeader(headers, signed);
  if (badHeader !== null) return refused('IncompleteSignatureException', badHeader);
  const date = readAmzDate(headers['x-amz-date'] ?? '');
  if (date === null || !date.toISOString().replaceAll('-', '').startsWith(day)) {
    return refused(
      'IncompleteSignatureException',
      'x-amz-date is missing, malformed, or of another day than the scope',
    );
  }
  if (Math.abs(date.getTime() - options.nowMs) > SKEW_MS) {
    const message = `Signature expired: x-amz-date ${headers['x-amz-date']} is more than 5 min from ${new Date(options.nowMs).toISOString()}`;
    return refused('SignatureExpiredException', message);
  }
  const hash = createHash('sha256').update(request.body).digest('hex');
  if ((headers['x-amz-content-sha256'] ?? hash) !== hash) {
    return refused('InvalidSignatureException', 'x-amz-content-sha256 does not match the body');
  }
  const credential = options.find(accessKeyId);
  if (credential === null || !same(headers['x-amz-security-token'] ?? '', credential.sessionToken ?? '')) {
    return refused('UnrecognizedClientException', 'The security token included in the request is invalid.');
  }
  const expected = await recompute(request, options, credential, date, signed);
  return expected !== null && same(signature, expected)
    ? { ok: true, credential }
    : refused('InvalidSignatureException', 'The request signature we calculated does not match the one provided.');
}

/** What is wrong with the list of signed headers, or null. */
function wrongHeader(headers: Readonly<Record<string, string>>, signed: readonly string[]): string | null {
  const missing = signed.find((name) => headers[name] === undefined);
  if (missing !== undefined) return `the signed header ${missing} is not in the request`;
  const names = new Set(signed);
  const unsigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))].find(
    (name) => !names.has(name),
  );
  return unsigned === undefined ? null : `the header ${unsigned} must be signed`;
}

async function recompute(
  request: SignedRequest,
  options: VerifyOptions,
  credential: Credential,
  signingDate: Date,
  signed: readonly string[],
): Promise<string | null> {
  const target = splitTarget(request.target);
  if (target === null) return null;
  const { accessKeyId, secretAccessKey } = credential;
  const signer = new SignatureV4({
    // No session token: it is among the headers as sent, and is signed as such.
    credentials: { accessKeyId, secretAccessKey },
    region: options.region,
    service: options.service,
    sha256: Sha256,
    applyChecksum: false,
  });
  const result = await signer.sign(
    {
      method: request.method,
      protocol: 'http:',
      hostname: '127.0.0.1',
      path: target.path,
      query: target.parameters,
      headers: Object.fromEntries(signed.map((name) => [name, request.headers[name] ?? ''])),
      body: request.body,
    },
    { signingDate, signableHeaders: new Set(signed) },
  );
  return /Signature=([0-9a-f]{64})$/.exec(result.headers['authorization'] ?? '')?.[1] ?? null;
}

/**
 * Path and decoded query of a request target; null when it cannot be told apart from another target with the same
 * signature: the signer folds dot segments and empty ones, and leaves a query parameter `X-Amz-Signature` out.
 */
function splitTarget(target: string): { path: string; parameters: Record<string, string[]> } | null {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const folded = path.slice(1).split('/').slice(0, -1).includes('') || /\/\.{1,2}(\/|$)/.test(path);
  if (folded) return null;
  const parameters = new Map<string, string[]>();
  try {
    for (const pair of mark < 0 ? [] : target.slice(mark + 1).split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decodeURIComponent(equals < 0 ? pair : pair.slice(0, equals));
      const value = equals < 0 ? '' : decodeURIComponent(pair.slice(equals + 1));
      if (name.toLowerCase() === 'x-amz-signature') return null;
      parameters.set(name, [...(parameters.get(name) ?? []), value]);
    }
  } catch {
    return null; // a broken escape cannot have been signed
  }
  return { path, parameters: Object.fromEntries(parameters) };
}

/** Reads `yyyymmddThhmmssZ`. */
function readAmzDate(text: string): Date | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Compares two texts in a time that does not depend on where they differ. */
function same(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
