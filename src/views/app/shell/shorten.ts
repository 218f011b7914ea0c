/**
 * A text of at most so many characters, cut after a word. A number is not left at the end: "Laptop refresh, 75…" would
 * read as another quantity.
 */
export function shortened(text: string, max: number): string {
  const characters = [...text];
  if (characters.length <= max) return text;
  const words = characters.slice(0, max).join('').split(' ');
  if (characters[max] !== ' ' && words.length > 1) words.pop();
  while (words.length > 1 && !isWord(words.at(-1) ?? '')) words.pop();
  const kept = [...words.join(' ')];
  while (kept.length > 1 && /[\p{P}\p{S}\s]/u.test(kept.at(-1) ?? '')) kept.pop();
  return `${kept.join('')}…`;
}

const isWord = (word: string): boolean => /\p{L}/u.test(word) && !/\d/.test(word);
