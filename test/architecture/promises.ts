/** File below `test/`, without `.test.ts`, and title of a test. */
type TestName = readonly [file: string, title: string];

/**
 * The promises of each document, in its own words, and the tests that fail when they are broken. promises.test.ts
 * checks that the words and the tests exist.
 */
export const promises: Readonly<Record<string, Readonly<Record<string, readonly TestName[]>>>> = {
  'docs/security.md': {
    'there is no flag for it': [['access/key-secrecy', 'the refusal of a key as a flag']],
    'No tool takes an address, a key, a grant or a tenant': [
      ['architecture/promises', 'no tool takes an address, a key, a grant or a tenant'],
    ],
    'sent to the address in `CPQ_BASE_URL` alone. Redirects are refused': [
      ['api/attempts', '%i to %s is not followed'],
    ],
    'It is removed from messages and records of the service, also when it is hidden by invisible characters or markup':
      [
        ['access/key-secrecy', 'records are still shown, without the key'],
        ['access/key-secrecy', 'a service that repeats the key'],
      ],
    'Errors carry no body and no stack': [
      ['tools/errors', 'with repeated status 500 is reported without its body'],
    ],
    'A malformed answer of the service is reported as such': [
      ['api/faults', 'every list route under'],
    ],
    'An identifier is one segment of a path and cannot lead to another route': [
      ['api/identifiers', 'any other identifier is one path segment, and is decoded unchanged'],
    ],
    'nothing is shown from memory': [
      [
        'access/revoked',
        'nothing is answered from the cache until the service accepts a request again',
      ],
    ],
    'The same holds for a single refused collection': [
      ['access/revoked', 'a collection that it may no longer read is not answered from the cache'],
    ],
    'is sent to the address that it came with and nowhere else': [
      ['access/api-key', 'is sent to no other address, even if the service redirects'],
    ],
    'is forgotten after fifteen minutes without a call': [
      ['access/api-key', 'is closed after fifteen minutes without a call'],
    ],
    'So are webhook secrets, tokens and the password of Redis, in webhooks too': [
      ['events/webhooks-http', 'no secret of the server in a payload is stored or listed'],
      ['text/secrets', 'tokens are removed by their form'],
    ],
    'No output of the process, on stdout, stderr or over HTTP, contains a secret': [
      ['access/secrets', 'no credential of a caller, valid or not, is written anywhere'],
    ],
    'nginx, as configured in `deploy`, logs no path': [
      ['operating/deploy', 'logs the status of each request, and none of its content'],
    ],
    '`doctor` warns of files of secrets that other users of the machine can read': [
      ['commands/doctor', 'include the tenants file and the token file'],
    ],
    'By default nothing is granted but reading': [
      ['tools/catalog', 'is read-only unless a write is granted'],
    ],
    'A tool that is not granted is not listed and cannot be called': [
      ['tools/catalog', 'has only what the grants allow'],
      ['tools/errors', 'cannot be called'],
    ],
    'The grants of a caller can only restrict those of the operator': [
      ['access/grants', 'for a caller are limited to the grants of the operator'],
    ],
    'Who may read one collection sees no other through any tool, search or export': [
      ['access/grants', 'sees nothing else through any tool and arguments'],
      ['access/grants', 'exports companies as a file, and nothing else'],
    ],
    'A caller with some tools only is served nothing else': [
      ['access/tokens', 'a token for some tools is served nothing besides them'],
    ],
    'Where the host can ask, a person confirms the exact difference first': [
      ['consent/properties', 'every write has exactly one consent for exactly its difference'],
      ['consent/false-answers', 'cannot withdraw the ability to ask in a single request'],
    ],
    'a model that knows all else cannot write': [
      ['consent/adversary', 'writes nothing without a person: %s'],
    ],
    'Otherwise nothing is written': [
      ['consent/view', 'ends with the setting that an operator may choose'],
    ],
    'Invisible characters reach no answer and no error': [
      ['text/hardening', 'from any tool, for any records'],
      ['text/hardening', 'in an error with a message of the service'],
    ],
    'HTML is reduced to its text': [['text/hardening', 'of %j is %j']],
    'Long texts are cut and say so': [
      ['text/hardening', 'of %i characters is cut, with its original length'],
    ],
    'What a person has to confirm is shown whole, or not written': [
      [
        'consent/question',
        'a text stays in one line, between its own marks, without invisible characters',
      ],
    ],
    'Text of a record, an event or an argument that stands in a sentence of the server is quoted in one line that it cannot end':
      [
        ['briefs/checks', 'a reason quotes record text in one line'],
        ['events/list', 'is quoted in one line each'],
        ['tools/prompts', 'are quoted in one line that they cannot end'],
      ],
    'A `<` that could begin an element comes out as `&lt;`': [
      ['consent/resolving', 'has candidates without markup'],
    ],
    'No text of an exported file is a formula': [
      [
        'tools/export',
        'has no text that a spreadsheet takes for a formula, whatever ends a cell there',
      ],
    ],
    'The instructions of the server say that text in records is data': [
      ['architecture/promises', 'the instructions say that text in records is data'],
    ],
    'Every regular expression takes linear time': [
      [
        'architecture/patterns',
        'a regular expression that may take more than linear time is refused',
      ],
    ],
    'Deeply nested arguments are refused': [
      ['operating/metrics', 'with a deeply nested argument are refused, %s'],
    ],
    'It listens on `127.0.0.1`': [
      ['hosts/lifecycle', 'it prints its address and how to connect an assistant'],
    ],
    'refuses requests whose `Host`, or `Origin` if present': [
      ['hosts/http', 'may not address it as "%s", as in DNS rebinding'],
      ['hosts/http', 'do not include other pages: %s'],
    ],
    'Bodies are limited to 1 MiB': [['hosts/http', 'have a body of at most a mebibyte']],
    'A session id only repeats what a host said of itself, and grants nothing': [
      ['hosts/sessions', 'is refused where it was altered or not given out'],
      ['hosts/http', 'do not use %s, because there are no sessions'],
    ],
    'are public and name no tenant': [
      ['hosts/http', 'include /healthz, which reveals nothing about the tenant'],
    ],
    'On other addresses it refuses to start without': [
      ['access/start', 'does not start without authentication on %s'],
    ],
    'refuses what a proxy marks as forwarded, or sends as HTTP/1.0': [
      ['hosts/http', 'is refused, and the reason is named: %s'],
      ['hosts/http', 'is refused in HTTP/1.0: %s'],
    ],
    'No request ends the process: a defect is answered with 500': [
      [
        'hosts/http-errors',
        'a defect in what answers %s is a 500, is logged, and does not end the process',
      ],
    ],
    'slow senders are disconnected': [
      ['slow/http-slow-senders.slow', 'a sender that is slow with the headers is disconnected'],
    ],
    '`/metrics` names tenants and requires its token wherever callers authenticate': [
      ['operating/process', 'are served only with their token'],
    ],
    'Metrics and logs contain no text of customers; of callers, logs have the name and the request id':
      [['operating/metrics', 'neither metrics nor logs contain text of a caller or a customer']],
    'It causes the cached collection to be read again': [
      ['events/webhooks-round-trip', 'appears in the next answer and in the list of events'],
    ],
    'An event of a [webhook](webhooks.md) is untrusted text': [
      ['events/list', 'removes invisible characters and markup'],
    ],
    "A [view](views.md) loads the host's fonts only": [
      [
        'views/views',
        'has a content security policy without addresses but for fonts, and loads from none',
      ],
    ],
    'It calls only tools that read, or has a person asked about a change, and inserts no HTML': [
      [
        'views/views',
        'never turns text into HTML, and names no tool that writes but where it asks a person',
      ],
    ],
    'A hostile record does no harm in a browser': [
      ['slow/views-browser.slow', 'a hostile record does not harm the %s'],
    ],
    'Redis holds no API key': [['architecture/promises', 'contains the journal, and no key']],
    'A consent is used once, whichever server gave it': [
      [
        'events/webhooks-round-trip',
        'accept a consent once, wherever it was given, and both see what was written',
      ],
    ],
    'Servers share one rate budget': [
      [
        'slow/replicas-budget.slow',
        'two replicas have half each while Redis is unavailable, and what the service counts when it returns',
      ],
    ],
    'While a configured Redis is unavailable, nothing is written': [
      ['events/webhooks-round-trip', 'read without Redis, refuse writes and webhooks, and recover'],
    ],
    'The compiler accepts no unquoted text there': [
      ['text/untrusted-text', 'does not accept untrusted text'],
    ],
  },
  'docs/changes.md': {
    'A new value is shown completely, as it will be stored': [
      ['consent/shown', 'every stored character was shown'],
    ],
    'A host that can ask is always asked': [
      ['consent/false-answers', 'cannot withdraw the ability to ask in a single request'],
    ],
    'shows the whole question in one': [
      ['consent/view', 'gets the whole question, and a secret in _meta alone'],
      ['consent/view', 'writes by a click, once, and says what was verified'],
      ['slow/views-change.slow', 'shows the whole difference, what it is about, and what stays'],
      ['slow/views-change.slow', 'writes what the person saw, and takes it back'],
    ],
    'With neither, nothing is written': [
      ['consent/view', 'ends with the setting that an operator may choose'],
    ],
    'the assistant gets a preview and a token, and writes by repeating the call with `confirm`': [
      ['consent/tokens', 'gets a preview and a token, and nothing is written'],
    ],
    'A secret or token is valid for ten minutes, once, and only for the same tenant, tool, record in the same state, request and caller':
      [
        ['consent/tokens', 'is refused after ten minutes, and accepted just before'],
        ['consent/tokens', 'writes once with one token in two concurrent calls'],
        ['consent/tokens', 'of another difference is refused: %s'],
        ['consent/tokens', 'of another record is refused'],
        ['consent/tokens', 'of another tool with the same difference is refused'],
        ['consent/tokens', 'of another tenant of the same server is refused'],
        ['access/consent', 'works once, and only for the caller who received it'],
      ],
    'One that is altered, lengthened or invented is refused': [
      ['consent/tokens', 'that is changed in any part is refused'],
      ['consent/tokens', 'with something appended is refused: %j'],
      ['consent/view', 'with %s writes nothing'],
    ],
    'They do not survive a restart of the server': [
      ['consent/crash', 'a token is not valid after a restart of its server'],
    ],
    '`CPQ_CONSENT=ask` allows forms alone': [
      ['consent/tokens', 'offers no token and accepts none'],
      ['consent/view', 'is a form or nothing with CPQ_CONSENT=ask'],
    ],
    'An answer counts once, for its question, within ten minutes': [
      ['consent/false-answers', 'counts only once'],
      ['consent/false-answers', 'is refused after ten minutes'],
    ],
    'the person declined, or submitted the form without the tick': [
      ['consent/answers', 'the person %s: nothing is written, and the answer says so'],
    ],
    'It changed: `moved`, with the new difference': [
      [
        'consent/steps',
        'while the person is asked: nothing is written, and the new difference is shown',
      ],
    ],
    'A write is sent once': [['api/attempts', '%s is sent once, and its outcome is not guessed']],
    'It is sent again only if no connection was made': [
      ['api/attempts', 'that were never sent are retried, and arrive once'],
    ],
    'values stored differently are reported first': [
      ['consent/faults', 'and confirms: written, and the differences are reported'],
    ],
    '`cannot_tell`: it may still change': [
      ['consent/faults', 'and disconnects, with nothing stored as sent: it may be another change'],
    ],
    'the answer says that it was not compared': [
      ['consent/faults', '%s: confirmed, but not compared'],
    ],
    'the result is the same whether the service keeps or clears omitted fields': [
      ['consent/steps', 'is the same whether the service keeps or clears what is left out: %j'],
    ],
    'Without an intent in the journal nothing is sent': [
      ['consent/journal', 'from the intent on: nothing is sent'],
    ],
    'the answer says that it is not recorded': [
      [
        'consent/journal',
        'from the write on: it is written, and the answer says that it is not recorded',
      ],
    ],
    'The journal is append-only': [['consent/journal', 'is append-only']],
    'readable by its owner alone': [
      ['consent/journal', 'is readable by its owner only, and so is its folder'],
    ],
    'customer data but never the key': [['consent/journal', 'never contains the key']],
    'A line that a crash truncated is skipped': [
      [
        'consent/journal',
        'with a line torn by a crash keeps the other lines, and the next one is complete',
      ],
    ],
    'A revert is a change too': [
      ['consent/revert', 'happens once the person agreed, and both changes refer to each other'],
    ],
    'If anybody changed a writable field since, the revert is refused and shows the difference': [
      ['consent/revert', 'another field: refused, with the difference'],
    ],
    'A created opportunity stays': [
      [
        'consent/revert',
        'the creation of an opportunity: the answer suggests the nearest alternative',
      ],
    ],
    'the fields that may be written': [
      [
        'consent/journal',
        'a field that is not allowed is not written, and the allowed ones are reported',
      ],
    ],
    'stages that may not be set': [
      ['consent/journal', 'a barred stage is not reached by a revert'],
    ],
    'a name also bars its look-alikes': [
      ['consent/look-alikes', 'is recognised when the setting or its name has %s'],
    ],
    'writes in any hour': [['consent/journal', 'is not exceeded by concurrent calls']],
    'a restart does not reset it': [
      [
        'consent/crash',
        'a write of unknown outcome counts towards the hourly limit after a restart',
      ],
    ],
    'a name that matches no record or several': [
      [
        'consent/resolving',
        'of an ambiguous name is refused, with the candidates and their differences',
      ],
    ],
    'a deleted company, contact or opportunity': [
      ['consent/resolving', 'is refused when deleted, by %s'],
    ],
    'an unknown external identifier without `create: true`': [
      ['consent/resolving', 'is not created for an unknown external identifier without `create`'],
    ],
    'looks like one that exists': [
      ['consent/look-alikes', 'is refused with %s, and the other one is named'],
    ],
    'a new custom field whose name looks like one in use': [
      ['consent/look-alikes', 'a custom field that looks like one in use is refused'],
    ],
    'an invisible character, named with its position': [
      ['consent/look-alikes', '%j is refused with its name and position'],
    ],
    'namesakes and look-alikes of what was selected': [
      ['consent/look-alikes', 'is shown with a note about the other'],
    ],
    'before the intent is in the journal nothing is written': [
      ['consent/steps', 'after the person agreed (%s)'],
    ],
    'afterwards the write is completed': [['consent/steps', 'after the intent: it is too late']],
    '`cpq_list_changes` reports `cannot_tell` and the present state of the record': [
      [
        'consent/crash',
        'killed before the answer to the write: outcome unknown, the record is changed',
      ],
    ],
    'one writes, the other gets `moved`': [
      ['consent/steps', 'that create the same record: one creates it, the other is refused'],
    ],
  },
  'docs/teams.md': {
    'every request is authenticated then': [
      ['access/tokens', 'is asked for a token with every method: %s'],
    ],
    'a `WWW-Authenticate` header that names the methods': [
      ['access/tokens', 'without a token is told which credentials are accepted'],
    ],
    'contains hashes, not tokens': [
      ['access/tokens', 'shows a token once, and stores only its hash'],
    ],
    'is readable by its owner only': [
      ['access/tokens', 'restricts a world-readable file to its owner'],
    ],
    'A token expires after 90 days': [
      ['access/tokens', 'that has expired is refused with this reason'],
    ],
    'Running servers notice a change within a second': [
      [
        'access/tokens',
        'that is made or revoked while the server runs is soon accepted or refused',
      ],
    ],
    'one without gets 403': [['access/tenants', 'are selected by the token alone']],
    'A token must be a JWT with a valid signature of the provider': [
      ['access/oauth', '%s is refused'],
    ],
    'Its scopes are grants': [
      ['access/oauth', 'grant access, limited to the grants of the operator'],
    ],
    'gets 403 with the scope to request': [
      ['access/oauth', 'without a known one lead to 403 and a challenge: %j'],
    ],
    'new ones work within seconds': [
      ['access/oauth', 'are accepted seconds after they are published'],
    ],
    'While they cannot be read, its tokens get 503': [
      ['access/oauth', '%s, every token gets 503 instead of 401'],
    ],
    'Only allowed addresses are accepted': [['access/api-key', 'is refused: %s']],
    'Names that resolve to private networks are refused': [
      ['access/api-key', 'is refused for a name that resolves to it; all addresses: %s'],
    ],
    'Callers with different keys share no cache and no journal': [
      ['access/api-key', 'never see data that only another caller’s key may read'],
    ],
    '`X-Forwarded-For` is accepted from named proxies only': [
      ['access/proxies', 'is the client of the first trusted proxy'],
    ],
    'calls of one caller (300), 16 at once': [
      [
        'operating/fair-queue',
        'may make a limited number of calls per minute, and is told when to retry',
      ],
    ],
    'are served round-robin by caller': [
      ['operating/fair-queue', 'a caller with many calls does not delay a caller with few'],
    ],
    'entries share nothing': [['access/tenants', 'never see each other’s data']],
    'Journal, write limit, received webhooks and cached collections belong to the entry': [
      ['access/isolation', 'have separate journals, reverts and hourly write limits'],
      ['access/isolation', 'have separate webhook events'],
    ],
    'Data is kept when a key is renewed': [
      [
        'access/isolation',
        'keep their data when their key is renewed, and give none to another entry with the old key',
      ],
    ],
    'except addresses, keys and secrets': [['access/tenants', 'never contain the server’s key']],
    'A file with an error changes nothing': [
      ['access/tenants', 'changes nothing and logs it where the file is %s'],
    ],
    'a string or a list of strings': [['access/tenants', 'are checked: %s cannot be %j']],
    'calls in progress finish with the configuration they started with': [
      ['access/tenants', 'lets running calls finish'],
    ],
  },
  'docs/operations.md': {
    'wrong credentials of one sender': [
      ['access/tokens', 'has to wait, and others do not'],
      ['access/guessing', 'guessed metrics tokens are refused after thirty in a minute'],
    ],
    'checks of unknown keys at one address of the service': [
      ['access/guessing', 'from a few addresses do not block a correct key'],
    ],
    'The same for wrong webhook secrets, per tenant': [
      ['access/guessing', 'are refused after thirty in a minute, and so is the correct one'],
    ],
  },
  'docs/webhooks.md': {
    'Without the secret `/webhooks/` does not exist': [
      ['events/webhooks-http', 'without a secret, deliveries are refused and no tool lists events'],
    ],
    'unknown tenant; without details': [['events/webhooks-http', 'learns nothing: %s']],
  },
  'docs/state.md': {
    'a full disk': [['slow/unwritable-state.slow', 'is reported until a write succeeds again']],
  },
};
