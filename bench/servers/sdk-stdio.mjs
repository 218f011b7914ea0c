import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { sdkServer } from './sdk.mjs';

serveStdio(sdkServer);
