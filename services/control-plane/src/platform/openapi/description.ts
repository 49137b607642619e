/** Rules of the whole interface, and decisions of this service that the specification leaves open. */
export const API_DESCRIPTION = `
Catalogs basemaps and vectors, serves tiles and downloads to holders of a service token, and lets operators administer all of it.

**Answers.** Lists are \`{"items": [...], "total": n}\`; details are the object itself. Every error is \`{"error": "..."}\`; answers below \`/api/v1/admin\` also carry its code in \`x-refusal\` and, where the sentence is made from codes, those with
their parameters in \`x-refusal-details\` (percent-encoded JSON). Timestamps are
ISO 8601 UTC. Every list takes \`q\`, \`sort\`, \`limit\`, \`offset\` and filters; \`total\` counts what matches, and an unknown parameter is 400
(a service token in the query aside). JSON answers and errors are \`Cache-Control: no-store\`. Bodies are JSON of at most 1 MiB; an endpoint without parameters takes
an empty body. A field of a body that is null counts as left out, unless null has a meaning there. A field that is not known is refused (400), at every depth, also if it is
null and on endpoints without a body: the error names it and the nearest known one. Input that is accepted but probably not intended is listed in \`warnings\`. A
path that exists with another method answers 405 with \`Allow\`. A request with several Host headers, an address that names a host, or a
transfer encoding other than chunked is refused (400). 503 comes with \`Retry-After\`.

**Service tokens** go into \`Authorization: Bearer\`, \`X-Access-Token\`, \`?token=\` or \`?access_token=\`. The same token may stand in
several of them; different ones are 400. An \`Authorization\` of another scheme is ignored. The order of refusal is fixed: no usable token
401; scope missing 403; resource not granted 403, whether or not it exists; granted but absent 404, also for what was withdrawn or is of a disabled scan source.

**Signed addresses** need no token until they expire: \`exp\` (seconds since 1970), \`sig\` and perhaps \`bounds\` in the query open tiles, TileJSON and the archive of what
they were made for, a basemap or one version of it, and nothing else. \`POST /api/v1/admin/signed-urls\` makes them, or a token of scope \`sign\`. Each parameter may stand there once,
spelt as it was made. Where a token comes with them, it decides. The order of refusal: not made for this address, by a key that is not good any more or changed 401;
expired 401, to the second; a tile outside their bounds, and the archive where they have some, 403; absent 404.

**Administration** takes HTTP Basic (ADMIN_USER, by default \`admin\`, and ADMIN_PASSWORD), \`Authorization: Bearer\` with ADMIN_TOKEN, or, where
OIDC_ISSUER is set, the cookie of a session, on \`/api/v1/admin/*\` and \`/admin/*\`. Basic and Bearer have the role \`admin\`; a session has the role
that OIDC_ROLES gives its person: \`viewer\` reads; \`operator\` also scans, slices, pushes, sets defaults and withdraws; \`admin\` does everything. Each
operation says in \`x-required-role\` which it needs (403). A session ends after SESSION_TTL, after SESSION_IDLE without a request (those with the header
\`X-Background\`, and event streams, do not count), and on sign-out; a change within it needs \`Origin\` or \`Sec-Fetch-Site\` of this service (403). The checks come in this order: a caller on another machine while ADMIN_ALLOW_REMOTE is false, 403; a
\`Host\` that is no loopback name or address, listen address (every address of the machine where the service listens on all), host of
API_BASE_URL or entry of ADMIN_HOSTS, 403; a state-changing request that a page of another origin sends, a subdomain included, 403; too many
wrong credentials, 429; credentials, 401, also for paths that do not exist. A forwarding header counts from TRUSTED_PROXIES alone; from
anyone else it makes even a local caller a remote one. After nine wrong credentials from one address (an IPv6 /64) each further one costs a
pause that doubles from one second up to a minute, during which that address is answered 429; on the machine itself the first 49 are free
and the pause stays under three seconds. The right credential ends it, other addresses are not affected, and a request without credentials
does not count.

**Requests** are refused before their bodies are read wherever the head suffices; the connection may be closed then. A body arrives within 30
seconds (408). A header beyond the limit of its kind is 431, or ignored where its standard lets it; an address of more than 8,192 characters
is 414.
`.trim()
