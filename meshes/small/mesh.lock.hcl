format = 1
ports = {
  "forge/gitea/http" = 29815
  "forge/gitea/ssh" = 27568
  "gate/postgres/postgres" = 21849
}
addresses = {
  "desk" = "10.20.0.229"
  "forge" = "10.20.0.97"
  "gate" = "10.20.0.164"
}
logins = {
  "postgres@gate database gitea@forge" = "gitea_forge"
}
secrets = {
  "credential postgres@gate database gitea@forge" = { generation = 1, ends = ["consumer gitea@forge", "provider postgres@gate"], to = ["SHA256:UI4JViEHhFJ873Vz45cb5OQ4K30IYjPOaGS1ziEwO8g", "SHA256:DR7T5uTM7+tRt8GG5O9XxRYyxDwIuo8htTo1uNqYERw"], blobs = ["forge/credential.postgres@gate.database.gitea@forge.consumer.25edcef989bb.age", "gate/credential.postgres@gate.database.gitea@forge.provider.9e9d85b3ee04.age"], sha256 = ["25edcef989bbfcb4874b0cfd4d978cbc0cff1339fa6b5d385bccc6e91fbbb04b", "9e9d85b3ee048eb5164e24d10d2538aea70e8e4e483bfb0abb7587b3975bb9f7"] }
  "need gitea@forge internal-token" = { generation = 1, ends = ["holder gitea@forge"], to = ["SHA256:UI4JViEHhFJ873Vz45cb5OQ4K30IYjPOaGS1ziEwO8g"], blobs = ["forge/need.gitea@forge.internal-token.holder.gitea.cacc65f84b68.age"], sha256 = ["cacc65f84b68f1986455e857f369ec9e94cb305e3ee1700f1d3841b0f167fa95"] }
  "need gitea@forge lfs-secret" = { generation = 1, ends = ["holder gitea@forge"], to = ["SHA256:UI4JViEHhFJ873Vz45cb5OQ4K30IYjPOaGS1ziEwO8g"], blobs = ["forge/need.gitea@forge.lfs-secret.holder.gitea.e05bd6dc4733.age"], sha256 = ["e05bd6dc47332bddce3fc7f8db9d20271111545aff8faf647e9ad74a435b577e"] }
  "need gitea@forge oauth-secret" = { generation = 1, ends = ["holder gitea@forge"], to = ["SHA256:UI4JViEHhFJ873Vz45cb5OQ4K30IYjPOaGS1ziEwO8g"], blobs = ["forge/need.gitea@forge.oauth-secret.holder.gitea.b09b9c1a2f43.age"], sha256 = ["b09b9c1a2f43788b5dc0675e522881018b249abeab212e5a1094aea262ad7a36"] }
  "need gitea@forge secret-key" = { generation = 1, ends = ["holder gitea@forge"], to = ["SHA256:UI4JViEHhFJ873Vz45cb5OQ4K30IYjPOaGS1ziEwO8g"], blobs = ["forge/need.gitea@forge.secret-key.holder.gitea.3ae023c46f21.age"], sha256 = ["3ae023c46f21c5f491cd5b320387cc5b107e933262770655a9ef4f302c02aa42"] }
  "need postgres@gate superuser" = { generation = 1, ends = ["holder postgres@gate"], to = ["SHA256:DR7T5uTM7+tRt8GG5O9XxRYyxDwIuo8htTo1uNqYERw"], blobs = ["gate/need.postgres@gate.superuser.holder.postgres.0cd5fcf5176d.age"], sha256 = ["0cd5fcf5176d7b4028e56d9a442593fb815d465d3f712d099e228e2f9b016aa7"] }
}
