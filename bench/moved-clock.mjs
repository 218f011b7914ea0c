// Loaded into a server before its own code: a message from the parent sets how many milliseconds its clock is fast.
const RealDate = Date;
let fastMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [RealDate.now() + fastMs]));
  }
  static now() {
    return RealDate.now() + fastMs;
  }
};

const elapsed = performance.now.bind(performance);
performance.now = () => elapsed() + fastMs;

process.on('message', (message) => {
  if (message.fastMs === undefined) return;
  fastMs = message.fastMs;
  process.send({});
});
process.channel?.unref();
