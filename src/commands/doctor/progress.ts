/** The part of a terminal's stream that is used here. */
export interface Screen {
  isTTY?: boolean;
  write(text: string): unknown;
}

const clearLine = '\r\u001b[2K';

/** One line that says what is being asked, on a terminal; nothing anywhere else. */
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
