import { ApiError } from '../api/errors.ts';
import { StateUnavailable } from '../state/port.ts';
import { ChangeRefused } from '../tenant/changes/refusal.ts';
import { NotGranted } from '../tenant/tenant.ts';
import { InvalidArguments } from './arguments.ts';

/** Every error that a tool may end with on purpose; anything else is a mistake of this server. */
export type KnownError =
  | ApiError
  | InvalidArguments
  | ChangeRefused
  | NotGranted
  | StateUnavailable;
export type ErrorKind = KnownError['kind'];

const classes = [ApiError, InvalidArguments, ChangeRefused, NotGranted, StateUnavailable];

export const isKnown = (error: unknown): error is KnownError =>
  classes.some((known) => error instanceof known);
