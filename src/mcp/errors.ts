import { ChangeRefused } from '../changes/refusal.ts';
import { ApiError } from '../service/errors.ts';
import { StateUnavailable } from '../state/port.ts';
import { NotGranted } from '../tenant/grants.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';

/** Every expected error of a tool; any other error is a fault of this server. */
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
