/** An error a stand-in answers on the wire, with the code the real service uses. */
// @ts-nocheck

export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  /** The code of SQS's older protocol, which the SDK reads first (`x-amzn-query-error`). */
  readonly queryCode: string | undefined;

  constructor(code: string, message: string, status = 400, queryCode?: string) {
    super(message);
    this.name = code;
    this.code = code;
    this.status = status;
    this.queryCode = queryCode;
  }
}

export const validation = (message: string): AwsError => new AwsError('ValidationException', message);

/** Every service the stand-ins speak for throttles with this code, SendCommand without declaring it. */
export const throttled = (): AwsError => new AwsError('ThrottlingException', 'Rate exceeded', 429);

/** What the embedded AWS itself cannot do: a broken file on disk, a port taken, a table of another shape. */
export class EmbeddedAwsError extends Error {
  readonly code:
    | 'JournalBroken'
    | 'CredentialsBroken'
    | 'TableDiffers'
    | 'DataDirInUse'
    | 'BadDocument'
    | 'UnknownName';

  constructor(code: EmbeddedAwsError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EmbeddedAwsError';
    this.code = code;
  }
}

/** Something a person should see: a function that threw, a delivery given up. */
export interface EmbeddedNotice {
  readonly level: 'warn' | 'error';
  readonly service: string;
  readonly message: string;
  readonly error?: unknown;
}

export type Notify = (notice: EmbeddedNotice) => void;
