HTTP/1.1 502 Bad Gateway
x-request-id: 01a22759-a6e4-762f-9100-83d88fbf4645
x-ratelimit-limit-requests: 6000
x-ratelimit-remaining-requests: 5978
x-ratelimit-reset-requests: 39s
content-type: application/json; charset=utf-8
retry-after: 86400
cache-control: private, no-store
vary: Cookie, Authorization
x-content-type-options: nosniff
content-length: 100
Date: Sun, 29 Nov 2026 12:48:36 GMT
Connection: keep-alive
Keep-Alive: timeout=65

