import { errorCode, fieldOf } from '../../values.ts';
import { ApiError, type ErrorFacts, isApiError, privateAddress } from '../errors.ts';

const neverSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  privateAddress,
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

const codeOf = (error: unknown): string => errorCode(error) ?? '';

/** Some of these codes also occur on established connections, after something may have been sent. */
const isConnectError = (error: unknown): boolean => {
  const syscall = fieldOf(error, 'syscall');
  return syscall === undefined || syscall === 'connect' || syscall === 'getaddrinfo';
};

/** Codes of undici for a response that is not valid HTTP; a status below 100 fails an assertion. */
const malformedCodes = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_ASSERTION',
]);

/** The error of undici's parser has a name and no code. */
const isMalformed = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'HTTPParserError' || malformedCodes.has(codeOf(error)));

/** Keeps only the code: messages of the network layer may quote the request. */
export function toApiError(error: unknown, facts: ErrorFacts): Error {
  if (isApiError(error)) return error;
  if (isMalformed(error)) return new ApiError('malformed', { ...facts, problem: 'not valid HTTP' });
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(error) || codeOf(inner);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new ApiError('too-large', facts);
  if (neverSentCodes.has(code) && isConnectError(inner))
    return new ApiError('unreachable', { ...facts, code });
  if (code.endsWith('_TIMEOUT')) return new ApiError('timed-out', facts);
  // An error without a code is a bug of this server and must not be reported as an outage.
  return code === '' && error instanceof Error
    ? error
    : new ApiError('connection-lost', facts, `connection lost: ${code}`);
}
