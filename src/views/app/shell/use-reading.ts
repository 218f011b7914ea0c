import { useEffect } from 'preact/hooks';

/** Reads whenever an input changes. `isCurrent` turns false when a later reading begins or the component is removed. */
export function useReading(
  inputs: readonly unknown[],
  read: (isCurrent: () => boolean) => void,
): void {
  useEffect(() => {
    let current = true;
    read(() => current);
    return () => {
      current = false;
    };
  }, inputs);
}
