/** A reading of 20,000 records, large enough to be killed while it is written. */
export const keptReading = (number: number) => ({
  value: {
    number,
    records: Array.from({ length: 20_000 }, (_, id) => ({ id, text: `${number} ${Math.sin(id)}` })),
  },
  ageMs: 0,
  keepMs: 3_600_000,
});
