/** Rules of the whole interface, and decisions of this service that the specification leaves open. */
export const API_DESCRIPTION = `
The gateway catalogs basemaps and vectors, serves tiles and downloads to holders of a service token, and lets operators administer both.

**Responses.** A list is \`{"items": [...], "total": n}\`; a detail is the object itself. Every error is \`{"error": "..."}\`. Below
\`/api/v1/admin\` an error also has its code in \`x-refusal\`, and the codes and parameters of its message in \`x-refusal-details\`
(percent-encoded JSON). Timestamps follow ISO 8601 in UTC. Every list takes \`q\`, \`sort\`, \`limit\`, \`offset\` and filters. \`total\` counts
the matching items. An unknown parameter returns 400, except a service token in the query. JSON responses and errors have
\`Cache-Control: no-store\`. 503 has \`Retry-After\`. A path that exists with another method returns 405 with \`Allow\`.

**Bodies** are JSON of at most 1 MiB. An endpoint without parameters accepts an empty body. A null field counts as absent, unless null has
a meaning there. An unknown field returns 400 at every depth, also if it is null and also on endpoints without a body; the error names
the field and the nearest known one. \`warnings\` lists accepted input that is probably not intended. A request with several Host headers,
an address that names a host, or a transfer encoding other than chunked returns 400.

**Service tokens** go into \`Authorization: Bearer\`, \`X-Access-Token\`, \`?token=\` or \`?access_token=\`. A request may send the same token
in several places; different tokens return 400. Another scheme of \`Authorization\` is ignored. Refusals have a fixed order: no usable
token 401; a missing scope 403; a resource outside the grants 403, whether or not it exists; an absent resource within the grants 404.
Withdrawn resources, and resources of disabled scan sources, count as absent.

**Signed URLs** need no token until they expire. The query has \`exp\` (seconds since 1970), \`sig\` and an optional \`bounds\`, each once
and unchanged. It opens the tiles, TileJSON and archive of one basemap or one version, and nothing else.
\`POST /api/v1/admin/signed-urls\` creates such addresses; tokens of scope \`sign\` use \`/api/v1/catalog/signed-urls\`. If the request also has a
token, only the token decides. Refusals have a fixed order: a signature for another address, by a retired key, or changed 401; expired,
to the second, 401; a tile outside \`bounds\`, or an archive if \`bounds\` is set, 403; absent 404.

**Administration** covers \`/api/v1/admin/*\` and \`/admin/*\`. It accepts HTTP Basic (ADMIN_USER, by default \`admin\`, and ADMIN_PASSWORD),
\`Authorization: Bearer\` with ADMIN_TOKEN, and, if OIDC_ISSUER is set, the cookie of a session. Basic and Bearer have the role \`admin\`. A
session has the role that OIDC_ROLES gives its person: \`viewer\` reads; \`operator\` also scans, slices, pushes, sets defaults and withdraws;
\`admin\` does everything. Each operation names the required role in \`x-required-role\` (403). A session ends after SESSION_TTL, after
SESSION_IDLE without a request, and on sign-out. Event streams, and requests with the header \`X-Background\`, do not extend it.

The service checks an administrative request in this order: a caller on another machine while ADMIN_ALLOW_REMOTE is false, 403; a
\`Host\` outside the permitted names, 403; a change from a page of another origin, including a subdomain, 403; too many wrong credentials,
429; wrong credentials, 401, also for paths that do not exist. The permitted names are loopback names and addresses, the listen address
(every address of the machine if the service listens on all), the host of API_BASE_URL, and the entries of ADMIN_HOSTS. A forwarding
header counts only from TRUSTED_PROXIES; from other callers it makes even a local caller remote. After nine wrong credentials from one
address (an IPv6 /64), each further one causes a pause, which doubles from one second to one minute. During the pause the address
receives 429. On the machine itself the first 49 cause no pause, and the pause stays under three seconds. The right credentials end the
pause. Other addresses are not affected, and requests without credentials do not count.

**Limits of requests.** The service refuses a request before it reads the body if the head is sufficient, and may then close the
connection. A body must arrive within 30 seconds (408). A header beyond the limit of its kind returns 431, or is ignored if its standard
allows that. An address of more than 8,192 characters returns 414.
`.trim()
