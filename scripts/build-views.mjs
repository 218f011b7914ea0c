// Builds each view into one self-contained HTML file. Its content security policy allows the inline script and
// style by their hashes, and no network address.
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
// Vite takes it from the caller: a test runner would get views with the code for debugging in them.
process.env.NODE_ENV = 'production';
const views = {
  pipeline: 'Open pipeline',
  changes: 'Changes of the pipeline',
  quote: 'Quote',
  quotes: 'Quotes',
  company: 'Company',
  change: 'Change',
};

/** Writes the pages, and returns the files of which they contain code. */
export async function buildViews(dist) {
  const folder = join(dist, 'views');
  await mkdir(folder, { recursive: true });
  const pages = Object.entries(views).map(async ([name, title]) => {
    const parts = await bundled(`src/views/app/${name}/main.tsx`);
    await writeFile(join(folder, `${name}.html`), page(title, parts, ''));
    return parts.files;
  });
  return (await Promise.all([...pages, buildPreview(folder)])).flat();
}

/** The preview page: shows the views without a host, with data of the server that serves it. */
async function buildPreview(folder) {
  const parts = await bundled('src/views/app/preview/main.ts');
  const html = page('Preview', parts, "connect-src 'self'; frame-src 'self'");
  await writeFile(join(folder, 'preview.html'), html);
  return parts.files;
}

async function bundled(entry) {
  const { output } = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    // Smaller than the automatic runtime.
    oxc: {
      jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
      jsxInject: entry.endsWith('.tsx') ? "import { h, Fragment } from 'preact'" : undefined,
    },
    build: {
      write: false,
      target: 'es2023',
      // Browsers that support light-dark(): rewritten, it would follow the system instead of the host.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: false,
      cssCodeSplit: false,
      rolldownOptions: { input: join(root, entry), output: { format: 'iife' } },
    },
  });
  const { code, modules } = output.find(({ type }) => type === 'chunk');
  const style = output.find(({ fileName }) => fileName.endsWith('.css'))?.source ?? '';
  const files = Object.keys(modules).filter((file) => modules[file].renderedLength > 0);
  return { script: code.trim(), style: String(style).trim(), files };
}

/** Escapes closing tags in the script's strings, which would end the script element. */
const inScript = (code) => code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function page(title, { script, style }, besides) {
  const code = inScript(script);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    // The host's own fonts; a view has no address of its own to load one from.
    'font-src data: https:',
    "base-uri 'none'",
    "form-action 'none'",
    ...(besides === '' ? [] : [besides]),
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="tools" content="">
<meta name="made-up" content="">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div id="view"></div>
<script>${code}</script>
</body>
</html>
`;
}
