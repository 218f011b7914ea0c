import { expect, test } from 'vitest';
import { describeWith } from '../support/needs.ts';
import { start } from '../support/process.ts';
import { shared } from '../support/shared.ts';
import { newPage } from '../support/view-host.ts';

const served = shared(async () => {
  const running = await start(['http', '--sandbox', '--port', '0']);
  const [url] = await running.says(/http:\/\/[^\s"']+\/preview\b/);
  return new URL(url);
});

describeWith('chromium', 'the preview in a browser', () => {
  test('writes a change to the embedded tenant where writes are allowed', async () => {
    const running = await start(['http', '--sandbox', '--port', '0', '--allow-writes']);
    const [url] = await running.says(/http:\/\/[^\s"']+\/preview\b/);
    const page = await newPage();
    await page.goto(url);
    await page.click('text="Change"');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Write it' }).click();
    await frame.getByText('Verified', { exact: true }).waitFor();
    await page.locator('text=/^Sent to the conversation: .*outcome: written/s').waitFor();
    await page.context().close();
  });

  test('shows every view with live figures, without external requests', async () => {
    const url = await served();
    const page = await newPage();
    const [elsewhere, errors]: string[][] = [[], []];
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== url.origin) elsewhere?.push(request.url());
    });
    page.on('console', (line) => line.type() === 'error' && errors?.push(line.text()));
    page.on('pageerror', (error) => errors?.push(error.message));
    await page.goto(url.href);
    const frame = page.frameLocator('iframe');
    await frame.locator('.card').first().waitFor();
    await frame.locator('text="Made-up data: nothing here is real."').waitFor();
    expect((await frame.locator('body').innerText()).match(/made-up data/gi)).toHaveLength(1);
    // The past of the embedded tenant.
    await frame.locator('.changes .chart').waitFor();
    await frame.locator('.changes >> text=/^Quotes sent: \\d+$/').waitFor();
    await frame.locator('.trend').waitFor();
    const fits = await frame
      .locator('html')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    expect(fits).toBe(true);
    await frame.locator('.card').first().click();
    await frame.locator('text="Ask about this"').click();
    await page.locator('text=Sent to the conversation').waitFor();
    await page.click('text="Quote"');
    await frame.locator('.lines').first().waitFor();
    await page.click('text="Light or dark"');
    await frame.locator('html[data-theme="dark"]').waitFor();
    await page.click('text="Wide or narrow"');
    expect((await page.locator('iframe').boundingBox())?.width).toBeLessThanOrEqual(362);
    await page.click('text="Company"');
    await frame.locator('.timeline').waitFor();
    // A change needs the grant to write.
    expect(await page.locator('text="Change"').count()).toBe(0);
    expect({ elsewhere, errors }).toEqual({ elsewhere: [], errors: [] });
    await page.context().close();
  });
});
