/** The used part of a terminal stream. */
export interface Screen {
  isTTY?: boolean;
  write(text: string): unknown;
}

const clearLine = '\r\u001b[2K';

/** A progress line on a terminal; no output elsewhere. */
export function progressDisplay(screen: Screen, about: number) {
  const shown = screen.isTTY === true;
  return {
    onRequest(path: string, requests: number): void {
      if (shown) screen.write(`${clearLine}Asking ${path} (${requests} of about ${about})`);
    },
    done(): void {
      if (shown) screen.write(clearLine);
    },
  };
}
