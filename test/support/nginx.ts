import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { closing, newFolder } from './shared.ts';

/** A load balancer that sends each request to the next server; stopped after the tests of the file. */
export async function startNginx(servers: readonly string[]): Promise<string> {
  const folder = newFolder();
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  await writeFile(config, configFor(folder, port, servers));
  const words = ['-c', config, '-p', folder, '-e', join(folder, 'error.log')];
  const child = spawn('nginx', words, { stdio: 'inherit' });
  closing({
    async close() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url);
  return `${url}/mcp`;
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${url}/healthz`).catch(() => undefined);
    if (answer?.ok) return;
    await pause(50);
  }
  throw new Error('nginx did not start');
}

const configFor = (folder: string, port: number, servers: readonly string[]): string => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream replicas {
    ${servers.map((url) => `server ${new URL(url).host};`).join('\n    ')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_buffering off;
      proxy_read_timeout 75s;
    }
  }
}
`;
