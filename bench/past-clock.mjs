// Loaded into a server before its own code: its clock is seven days slow, so that it stores a snapshot of that day.
const slowMs = 7 * 24 * 60 * 60 * 1000;
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [RealDate.now() - slowMs]));
  }
  static now() {
    return RealDate.now() - slowMs;
  }
};
