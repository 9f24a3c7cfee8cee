declaration {
  format = 2
  mesh   = "home"
  node   = "anchor"
}

package "firewall/package.nftables" {
  name  = "nftables"
  state = "present"
}

directory "firewall/directory.rules" {
  path = "/etc/nftables.d"
  mode = "0755"
}

file "firewall/computed.table" {
  path     = "/etc/nftables.d/meshc.nft"
  source   = "files/etc/nftables.d/meshc.nft"
  sha256   = "af3151792fda4c35af0784084882a792a66464b95a1509f371c53bcaa41382f5"
  mode     = "0644"
  validate = ["nft", "-c", "-f", "%"]
}

file "firewall/file.unit.load" {
  path   = "/etc/systemd/system/meshc-firewall.service"
  source = "files/etc/systemd/system/meshc-firewall.service"
  sha256 = "421faadfb09eeafb9dab08343b8ae43c257ecd9f4dd4c8dbf59a4057e4632c7a"
  mode   = "0644"
}

unit "firewall/unit.load" {
  name       = "meshc-firewall.service"
  enabled    = true
  state      = "running"
  restart_on = ["firewall/file.unit.load"]
  reload_on  = ["firewall/computed.table"]
}

package "bash/package.bash" {
  name  = "bash"
  state = "present"
}

package "bash/package.bash-completion" {
  name  = "bash-completion"
  state = "present"
}

directory "bash/directory.rc" {
  path = "/etc/bash.bashrc.d"
  mode = "0755"
}

file "bash/file.rc" {
  path     = "/etc/bash.bashrc.d/10-mesh.sh"
  source   = "files/etc/bash.bashrc.d/10-mesh.sh"
  sha256   = "801261842f3837ee4b6464a469a1a1a6d8f7c9820546380d63c8a976e31c1f56"
  mode     = "0644"
  validate = ["bash", "-n", "%"]
}

block "bash/block.rc" {
  path   = "/etc/bash.bashrc"
  marker = "bash"
  source = "files/etc/bash.bashrc.block/bash"
  sha256 = "d922d1761bbf5c2e1a746fbc0490bba18c42621893511f3e697d9381e0b3f25a"
}

package "mesh-wireguard/package.wireguard-tools" {
  name  = "wireguard-tools"
  state = "present"
}

file "mesh-wireguard/file.patience" {
  path   = "/etc/systemd/system/wg-quick@wg0.service.d/mesh.conf"
  source = "files/etc/systemd/system/wg-quick@wg0.service.d/mesh.conf"
  sha256 = "baf1bfa730bbb625953dfc1296bf015a40b5e209f3790c04354c6cccadc414f1"
  mode   = "0644"
}

file "mesh-wireguard/file.program" {
  path   = "/usr/local/lib/mesh-wireguard/wg0"
  source = "files/usr/local/lib/mesh-wireguard/wg0"
  sha256 = "b7fc154fbc9038b0ee34e99d7f35d25e831ee7280d79f6c872d0260ee371629b"
  mode   = "0755"
}

file "mesh-wireguard/file.sysctl" {
  path   = "/etc/sysctl.d/60-mesh-wireguard.conf"
  source = "files/etc/sysctl.d/60-mesh-wireguard.conf"
  sha256 = "7583b76536eed1f710a1af0602147d42b02183c0d784f41fcb916e87e5a4bd69"
  mode   = "0644"
}

file "mesh-wireguard/computed.peers" {
  path   = "/etc/wireguard/wg0.conf"
  source = "files/etc/wireguard/wg0.conf"
  sha256 = "f82da97b5ab6c7ba8ea4ce56d5f04bdc6a0c50f932757543fc6fc7249b24eaee"
  mode   = "0600"
}

file "mesh-wireguard/file.unit.endpoints-timer" {
  path   = "/etc/systemd/system/mesh-wireguard-wg0-endpoints.timer"
  source = "files/etc/systemd/system/mesh-wireguard-wg0-endpoints.timer"
  sha256 = "43127f83cf98420cc27d98e60e2ea62933264ff4d33db6e5f327a414f394efac"
  mode   = "0644"
}

unit "mesh-wireguard/unit.endpoints-timer" {
  name       = "mesh-wireguard-wg0-endpoints.timer"
  enabled    = true
  state      = "running"
  restart_on = ["mesh-wireguard/file.unit.endpoints-timer"]
}

file "mesh-wireguard/file.unit.endpoints" {
  path   = "/etc/systemd/system/mesh-wireguard-wg0-endpoints.service"
  source = "files/etc/systemd/system/mesh-wireguard-wg0-endpoints.service"
  sha256 = "16f47acff1bae0ac96594014692a7fafcfd1d5f56d67829f98ce93dde67375c8"
  mode   = "0644"
}

unit "mesh-wireguard/unit.endpoints" {
  name       = "mesh-wireguard-wg0-endpoints.service"
  enabled    = false
  state      = "triggered"
  restart_on = ["mesh-wireguard/file.unit.endpoints"]
}

unit "mesh-wireguard/unit.tunnel" {
  name       = "wg-quick@wg0.service"
  enabled    = true
  state      = "running"
  restart_on = ["mesh-wireguard/file.patience", "mesh-wireguard/file.sysctl"]
  reload_on  = ["mesh-wireguard/computed.peers"]
}

block "mesh-names/computed.hosts" {
  path   = "/etc/hosts"
  marker = "mesh home"
  source = "files/etc/hosts.block/mesh_home"
  sha256 = "c40aa3998dd8d311547af3372ce7de43192a01c539a912de909e5708af81fd6e"
}

package "node-exporter/package.exporter" {
  name  = "prometheus-node-exporter"
  state = "present"
}

file "node-exporter/file.arguments" {
  path   = "/etc/default/prometheus-node-exporter"
  source = "files/etc/default/prometheus-node-exporter"
  sha256 = "34bc1f5c1531b6c27ab4133cc1283606f499244f93d7b09cf67238abd6d33d17"
  mode   = "0644"
}

file "node-exporter/file.hardening" {
  path   = "/etc/systemd/system/prometheus-node-exporter.service.d/mesh.conf"
  source = "files/etc/systemd/system/prometheus-node-exporter.service.d/mesh.conf"
  sha256 = "6a57bb0b0273cddf2bf83fd875a24cf39486b6e43db50eb4b24358a3120263f7"
  mode   = "0644"
}

file "node-exporter/file.unit.exporter.order" {
  path   = "/etc/systemd/system/prometheus-node-exporter.service.d/50-mesh-order.conf"
  source = "files/etc/systemd/system/prometheus-node-exporter.service.d/50-mesh-order.conf"
  sha256 = "c620c1f285e718dda09af09f2ec746cf63c9ae3bb51fa73febe61dd980112bbb"
  mode   = "0644"
}

unit "node-exporter/unit.exporter" {
  name       = "prometheus-node-exporter.service"
  enabled    = true
  state      = "running"
  restart_on = ["node-exporter/file.arguments", "node-exporter/file.hardening"]
}

package "postgres/package.server" {
  name  = "postgresql-17"
  state = "present"
}

directory "postgres/directory.mesh" {
  path  = "/etc/postgresql/mesh"
  owner = "postgres"
  mode  = "0750"
}

directory "postgres/directory.provides.database" {
  path  = "/etc/postgresql/mesh/consumers.d"
  owner = "postgres"
  mode  = "0700"
}

directory "postgres/directory.standing" {
  path  = "/var/lib/mesh-standing/postgres"
  owner = "postgres"
  mode  = "0755"
}

directory "postgres/directory.standings" {
  path = "/var/lib/mesh-standing"
  mode = "0755"
}

directory "postgres/data.databases" {
  path  = "/var/lib/postgresql/17/main"
  owner = "postgres"
  mode  = "0700"
}

secret "postgres/secret.needs.superuser" {
  path       = "/etc/postgresql/mesh/superuser"
  sealed     = "sealed/postgres.needs.superuser.age"
  generation = 1
  key        = "need postgres@anchor superuser"
  role       = "holder"
  owner      = "postgres"
}

secret "postgres/secret.provides.database.gitea_board" {
  path       = "/etc/postgresql/mesh/consumers.d/gitea@board.database"
  sealed     = "sealed/postgres.provides.database.gitea_board.age"
  generation = 1
  key        = "credential postgres@anchor database gitea@board"
  role       = "provider"
  owner      = "postgres"
}

file "postgres/file.config" {
  path     = "/etc/postgresql/17/main/conf.d/50-mesh.conf"
  source   = "files/etc/postgresql/17/main/conf.d/50-mesh.conf"
  sha256   = "d74db0a6817e7b56212fde42476b78e5111553e3800edce90e56880402f210df"
  owner    = "postgres"
  mode     = "0644"
  validate = ["/usr/lib/postgresql/17/bin/postgres", "-C", "data_directory", "-D", "/var/lib/postgresql/17/main", "--config-file=%"]
}

file "postgres/file.hardening" {
  path   = "/etc/systemd/system/postgresql@17-main.service.d/mesh.conf"
  source = "files/etc/systemd/system/postgresql@17-main.service.d/mesh.conf"
  sha256 = "9fa5d567eb33f5252bc1f55e447c6dddf9895a15bc959dccec48292a0f170a79"
  mode   = "0644"
}

file "postgres/file.hba" {
  path   = "/etc/postgresql/17/main/pg_hba.conf"
  source = "files/etc/postgresql/17/main/pg_hba.conf"
  sha256 = "20bab4746b0c08904647a040bdd87585f4f79d1e2cfa74ac77610cd6a3d5eb3c"
  owner  = "postgres"
  mode   = "0640"
}

file "postgres/file.provision" {
  path   = "/etc/postgresql/mesh/provision.json"
  source = "files/etc/postgresql/mesh/provision.json"
  sha256 = "52e00bdc4d36947209714e200e31f5122e823938bf4bd53021fde9ae4796ef8a"
  mode   = "0644"
}

file "postgres/file.receives.database" {
  path   = "/etc/postgresql/mesh/consumers.json"
  source = "files/etc/postgresql/mesh/consumers.json"
  sha256 = "eb9b9bd87f060e2ef022394bb301feec9e5bad40586e06597abbb35c3be63622"
  owner  = "postgres"
  mode   = "0640"
}

file "postgres/file.start" {
  path     = "/etc/postgresql/17/main/postgresql.conf"
  source   = "files/etc/postgresql/17/main/postgresql.conf"
  sha256   = "2051c7c33bf85b156cae809d7b79380f2ad8376403fa4ddc90106a16ed751fe4"
  owner    = "postgres"
  mode     = "0644"
  validate = ["/usr/lib/postgresql/17/bin/postgres", "-C", "data_directory", "--config-file=%"]
}

file "postgres/file.superuser" {
  path   = "/etc/postgresql/mesh/superuser.sql"
  source = "files/etc/postgresql/mesh/superuser.sql"
  sha256 = "06347e5cc90d2a9f23afc60616a75c4079201779d1481413ccbe4ea9a74c4ffd"
  owner  = "postgres"
  mode   = "0640"
}

file "postgres/file.unit.provision" {
  path   = "/etc/systemd/system/postgresql-provision.service"
  source = "files/etc/systemd/system/postgresql-provision.service"
  sha256 = "20f5980a0eab1d5cc70d9fa035deffd5ed09de1b0a7f951942ea3cd51ef4a6f4"
  mode   = "0644"
}

unit "postgres/unit.provision" {
  name       = "postgresql-provision.service"
  enabled    = true
  state      = "running"
  restart_on = ["postgres/file.unit.provision", "postgres/file.provision"]
}

file "postgres/file.unit.server.order" {
  path   = "/etc/systemd/system/postgresql@17-main.service.d/50-mesh-order.conf"
  source = "files/etc/systemd/system/postgresql@17-main.service.d/50-mesh-order.conf"
  sha256 = "c620c1f285e718dda09af09f2ec746cf63c9ae3bb51fa73febe61dd980112bbb"
  mode   = "0644"
}

unit "postgres/unit.server" {
  name       = "postgresql@17-main.service"
  enabled    = true
  state      = "running"
  restart_on = ["postgres/file.hardening", "postgres/file.start"]
  reload_on  = ["postgres/file.config", "postgres/file.hba"]
}

file "postgres/file.unit.superuser" {
  path   = "/etc/systemd/system/postgresql-superuser.service"
  source = "files/etc/systemd/system/postgresql-superuser.service"
  sha256 = "364b3b9aad5009152bf4d830967b88ef81d05d0ac9db55520689dd872f84e98a"
  mode   = "0644"
}

unit "postgres/unit.superuser" {
  name       = "postgresql-superuser.service"
  enabled    = true
  state      = "running"
  restart_on = ["postgres/file.unit.superuser", "postgres/file.superuser", "postgres/secret.needs.superuser"]
}

package "redis/package.server" {
  name  = "redis-server"
  state = "present"
}

directory "redis/directory.mesh" {
  path  = "/etc/redis/mesh"
  owner = "redis"
  mode  = "0750"
}

directory "redis/directory.provides.cache" {
  path  = "/etc/redis/mesh/consumers.d"
  owner = "redis"
  mode  = "0700"
}

directory "redis/directory.standing" {
  path  = "/var/lib/mesh-standing/redis"
  owner = "redis"
  mode  = "0755"
}

directory "redis/data.keys" {
  path  = "/var/lib/redis"
  owner = "redis"
  group = "redis"
  mode  = "0750"
}

secret "redis/secret.needs.administrator" {
  path       = "/etc/redis/mesh/administrator"
  sealed     = "sealed/redis.needs.administrator.age"
  generation = 1
  key        = "need redis@anchor administrator"
  role       = "holder"
  owner      = "redis"
}

secret "redis/secret.provides.cache.gitea_board_6d3705cd" {
  path       = "/etc/redis/mesh/consumers.d/gitea@board.cache"
  sealed     = "sealed/redis.provides.cache.gitea_board_6d3705cd.age"
  generation = 1
  key        = "credential redis@anchor cache gitea@board"
  role       = "provider"
  owner      = "redis"
}

file "redis/file.administrator" {
  path   = "/etc/redis/mesh/administrator.acl"
  source = "files/etc/redis/mesh/administrator.acl"
  sha256 = "d8e5ee7e065d0a21c8841436139844b4efb3f5a4d869380e196bb0c880428b44"
  owner  = "redis"
  mode   = "0600"

  fill {
    offset     = 84
    secret     = "redis/secret.needs.administrator"
    generation = 1
    encoding   = "value"
  }
}

file "redis/file.config" {
  path   = "/etc/redis/redis.conf"
  source = "files/etc/redis/redis.conf"
  sha256 = "7cb3e8bc92bd73494aa74e639fef11fdbc77984a47041d30eb4f198f8d5bae74"
  owner  = "redis"
  mode   = "0640"
}

file "redis/file.provision" {
  path   = "/etc/redis/mesh/provision.json"
  source = "files/etc/redis/mesh/provision.json"
  sha256 = "dac5ee1a8abe3b65c872f9180e7d10e7437b8cd21916b6622db5a2c67045ba64"
  mode   = "0644"
}

file "redis/file.receives.cache" {
  path   = "/etc/redis/mesh/consumers.json"
  source = "files/etc/redis/mesh/consumers.json"
  sha256 = "bbc4bf3394272a914a4d366563c2af493e5687169d22fb08aa3ad911b015507b"
  owner  = "redis"
  mode   = "0640"
}

file "redis/file.service" {
  path   = "/etc/systemd/system/redis-server.service.d/mesh.conf"
  source = "files/etc/systemd/system/redis-server.service.d/mesh.conf"
  sha256 = "46459eb16b4f1b457d72377b9476cd25e6ea96a524088a90a9e2e36a66a2d380"
  mode   = "0644"
}

file "redis/file.sysctl" {
  path   = "/etc/sysctl.d/60-mesh-redis.conf"
  source = "files/etc/sysctl.d/60-mesh-redis.conf"
  sha256 = "5ab429ba7f4d0833ae71add1171223195647e20f05f20907d36fc1c24228d17b"
  mode   = "0644"
}

file "redis/file.users" {
  path     = "/usr/local/lib/mesh-redis/users"
  source   = "files/usr/local/lib/mesh-redis/users"
  sha256   = "e5f09dcee9de3d16748aa372dce7c5126a2da393e4cd40f06f526274c238fec4"
  mode     = "0755"
  validate = ["sh", "-n", "%"]
}

file "redis/file.unit.provision" {
  path   = "/etc/systemd/system/redis-provision.service"
  source = "files/etc/systemd/system/redis-provision.service"
  sha256 = "4c7757ed2fd19a6a3700150e7a8c9a9d274afc874eef8248170a83fccb43f03b"
  mode   = "0644"
}

unit "redis/unit.provision" {
  name       = "redis-provision.service"
  enabled    = true
  state      = "running"
  restart_on = ["redis/file.unit.provision", "redis/file.provision", "redis/secret.needs.administrator"]
}

file "redis/file.unit.server.order" {
  path   = "/etc/systemd/system/redis-server.service.d/50-mesh-order.conf"
  source = "files/etc/systemd/system/redis-server.service.d/50-mesh-order.conf"
  sha256 = "c620c1f285e718dda09af09f2ec746cf63c9ae3bb51fa73febe61dd980112bbb"
  mode   = "0644"
}

unit "redis/unit.server" {
  name       = "redis-server.service"
  enabled    = true
  state      = "running"
  restart_on = ["redis/file.administrator", "redis/file.config", "redis/file.service", "redis/file.sysctl", "redis/file.users"]
}

package "reverse-proxy/package.lego" {
  name  = "lego"
  state = "present"
}

package "reverse-proxy/package.nginx" {
  name  = "nginx"
  state = "present"
}

user "reverse-proxy/user.mesh-acme" {
  name   = "mesh-acme"
  group  = "www-data"
  system = true
  home   = "/var/lib/reverse-proxy"
  shell  = "/usr/sbin/nologin"
}

secret "reverse-proxy/secret.needs.dns-token" {
  path       = "/etc/reverse-proxy/dns-token"
  sealed     = "sealed/reverse-proxy.needs.dns-token.age"
  generation = 1
  key        = "supplied reverse-proxy@anchor dns-token"
  role       = "holder"
  owner      = "mesh-acme"
}

file "reverse-proxy/file.certificates" {
  path   = "/etc/systemd/system/reverse-proxy-certificates.service"
  source = "files/etc/systemd/system/reverse-proxy-certificates.service"
  sha256 = "ae15a831531249e2ec8a685b47dc61c034af1b03a83f5337e3ed91bd38fb1acd"
  mode   = "0644"
}

file "reverse-proxy/file.config" {
  path     = "/etc/nginx/nginx.conf"
  source   = "files/etc/nginx/nginx.conf"
  sha256   = "95d8dc754ae23b74b19f46816cbb08297f98d27ca9ac5052aa4c32ebe0b87905"
  mode     = "0644"
  validate = ["nginx", "-t", "-q", "-c", "%"]
}

file "reverse-proxy/file.hardening" {
  path   = "/etc/systemd/system/nginx.service.d/mesh.conf"
  source = "files/etc/systemd/system/nginx.service.d/mesh.conf"
  sha256 = "2894291fa36aa019ec1e25691e56be084ae4a975814b86d1b8bc68a4d18b2ada"
  mode   = "0644"
}

file "reverse-proxy/file.names" {
  path   = "/etc/reverse-proxy/names"
  source = "files/etc/reverse-proxy/names"
  sha256 = "2b29b0a46476f449d65603e6e31507cf0dd15bd3d203deaf83204594f58e768a"
  mode   = "0644"
}

file "reverse-proxy/file.renew" {
  path     = "/usr/local/lib/reverse-proxy/renew"
  source   = "files/usr/local/lib/reverse-proxy/renew"
  sha256   = "98c84253f1e14b71256a5b4d4f532c2c92e788e8e6b3e0eead5cea37e086a08f"
  mode     = "0755"
  validate = ["sh", "-n", "%"]
}

file "reverse-proxy/file.unit.certificates" {
  path   = "/etc/systemd/system/reverse-proxy-certificates.timer"
  source = "files/etc/systemd/system/reverse-proxy-certificates.timer"
  sha256 = "f154d31d18d60b68ee579eded380a31191d949c461d4018ff843d4be4b4b1854"
  mode   = "0644"
}

unit "reverse-proxy/unit.certificates" {
  name       = "reverse-proxy-certificates.timer"
  enabled    = true
  state      = "running"
  restart_on = ["reverse-proxy/file.unit.certificates", "reverse-proxy/file.certificates", "reverse-proxy/file.names", "reverse-proxy/file.renew", "reverse-proxy/secret.needs.dns-token"]
}

file "reverse-proxy/file.unit.proxy.order" {
  path   = "/etc/systemd/system/nginx.service.d/50-mesh-order.conf"
  source = "files/etc/systemd/system/nginx.service.d/50-mesh-order.conf"
  sha256 = "c620c1f285e718dda09af09f2ec746cf63c9ae3bb51fa73febe61dd980112bbb"
  mode   = "0644"
}

unit "reverse-proxy/unit.proxy" {
  name       = "nginx.service"
  enabled    = true
  state      = "running"
  restart_on = ["reverse-proxy/file.hardening"]
  reload_on  = ["reverse-proxy/file.config"]
}
