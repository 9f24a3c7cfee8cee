format = 1
ports = {
  "anchor/node-exporter/http" = 26592
  "anchor/postgres/postgres" = 21849
  "anchor/redis/redis" = 26492
  "board/gitea/http" = 29815
  "board/gitea/ssh" = 27568
  "board/node-exporter/http" = 26592
  "nas/node-exporter/http" = 26592
  "nas/prometheus/http" = 20716
}
addresses = {
  "anchor" = "10.86.85.116"
  "board" = "10.86.9.102"
  "lark" = "10.86.172.52"
  "nas" = "10.86.208.250"
  "wren" = "10.86.229.240"
}
logins = {
  "postgres@anchor database gitea@board" = "gitea_board"
  "redis@anchor cache gitea@board" = "gitea_board_6d3705cd"
}
secrets = {
  "credential postgres@anchor database gitea@board" = { generation = 1, ends = ["consumer gitea@board", "provider postgres@anchor"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak", "SHA256:T7GiYvY93GUV8B36kQVvyvVQO0f5l/uuzTximJmSOkE"], blobs = ["board/credential.postgres@anchor.database.gitea@board.consumer.cfeba556643f.age", "anchor/credential.postgres@anchor.database.gitea@board.provider.f98d0441539c.age"], sha256 = ["cfeba556643fdba9f6fb9591f4d608a3a93a49ad23765e533ab0a4961671b07a", "f98d0441539c6ca43168c1deab31fe670b69717a566def79e4950cd0ba60bb76"] }
  "credential redis@anchor cache gitea@board" = { generation = 1, ends = ["consumer gitea@board", "provider redis@anchor"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak", "SHA256:T7GiYvY93GUV8B36kQVvyvVQO0f5l/uuzTximJmSOkE"], blobs = ["board/credential.redis@anchor.cache.gitea@board.consumer.d7a7b5cdcc61.age", "anchor/credential.redis@anchor.cache.gitea@board.provider.a73f152bd92e.age"], sha256 = ["d7a7b5cdcc618d7124bbc2631074e95984ff2c8db1a51faa585368174b840e40", "a73f152bd92e0ae03af19e9c12f75895e1146dff0f8989d964f75bb3db75aa03"] }
  "licence personal" = { generation = 1, ends = ["holder model-client@lark", "holder model-client@wren"], to = ["SHA256:zfTecBV6SEd/DcL4YXTW7RWjyREMsNKQG4z6u/HnBYs", "SHA256:LJ5rp/iuoSncHWxRky26FzJq46mqFUrnY7kRNJGVXhg"], blobs = ["lark/licence.personal.holder.model-client.6d58cf69e190.age", "wren/licence.personal.holder.model-client.55592bb6cfb2.age"], sha256 = ["6d58cf69e190c1f4e885ace59342b4e2f716e1c0d1240c4d724ba3daf5f85c32", "55592bb6cfb2d05a7f71294b61c8ee6272ab0701bbd7a5849fca063e1e758a8b"] }
  "need gitea@board internal-token" = { generation = 1, ends = ["holder gitea@board"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak"], blobs = ["board/need.gitea@board.internal-token.holder.gitea.78268ef09170.age"], sha256 = ["78268ef09170cd9c5c39481a09fe082380e8b57a2f3572235ce489a84e1a762d"] }
  "need gitea@board lfs-secret" = { generation = 1, ends = ["holder gitea@board"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak"], blobs = ["board/need.gitea@board.lfs-secret.holder.gitea.c40f0120c501.age"], sha256 = ["c40f0120c50167e45db95e239712ab80028213df9fb099b1040a2e3bf1c8f4fc"] }
  "need gitea@board oauth-secret" = { generation = 1, ends = ["holder gitea@board"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak"], blobs = ["board/need.gitea@board.oauth-secret.holder.gitea.39b38067fce6.age"], sha256 = ["39b38067fce623c70135b6fd393d34f8fddf936781a9df5481c08ab2e73f6c55"] }
  "need gitea@board secret-key" = { generation = 1, ends = ["holder gitea@board"], to = ["SHA256:85zAq/czNLMu6gQH3KOxWvoF32CSsBRWpAkku3RoRak"], blobs = ["board/need.gitea@board.secret-key.holder.gitea.a947249aa4b3.age"], sha256 = ["a947249aa4b3bf774959e34a80921239d69b136d566640028e9c63d044ed51bf"] }
  "need postgres@anchor superuser" = { generation = 1, ends = ["holder postgres@anchor"], to = ["SHA256:T7GiYvY93GUV8B36kQVvyvVQO0f5l/uuzTximJmSOkE"], blobs = ["anchor/need.postgres@anchor.superuser.holder.postgres.acec64511e73.age"], sha256 = ["acec64511e7328feb9164a88a81040d1f76f050f5bbde8a0ba6cdb849ff43564"] }
  "need redis@anchor administrator" = { generation = 1, ends = ["holder redis@anchor"], to = ["SHA256:T7GiYvY93GUV8B36kQVvyvVQO0f5l/uuzTximJmSOkE"], blobs = ["anchor/need.redis@anchor.administrator.holder.redis.adb1916f495f.age"], sha256 = ["adb1916f495f0b175ca7a75736c747bad6e5578169f87fe6925bbe23b5974fad"] }
  "supplied reverse-proxy@anchor dns-token" = { generation = 1, ends = ["holder reverse-proxy@anchor"], to = ["SHA256:T7GiYvY93GUV8B36kQVvyvVQO0f5l/uuzTximJmSOkE"], blobs = ["anchor/supplied.reverse-proxy@anchor.dns-token.holder.reverse-proxy.ac0b5970fe08.age"], sha256 = ["ac0b5970fe0839a34e509944732129137347233fba75accac45f050defb6c32b"] }
}
