/** The smallest valid contents for fixture tools, resources and prompts. */

/** A picture of one red point. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

/** A sound of one sample of eight bits, in one channel. */
const wav = wavOf(Buffer.from([128])).toString('base64');

export const text = (words: string) => ({ type: 'text' as const, text: words });
export const image = { type: 'image' as const, data: png, mimeType: 'image/png' };
export const audio = { type: 'audio' as const, data: wav, mimeType: 'audio/wav' };

export const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
});

export const fromUser = <Content>(content: Content) => ({ role: 'user' as const, content });

function wavOf(samples: Buffer): Buffer {
  const rate = 8_000;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); // Length of what describes the format.
  head.writeUInt16LE(1, 20); // Not compressed.
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
