declaration {
  format = 2
  mesh   = "home"
  node   = "board"
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
  sha256   = "6a58d46063b5433a7f51005d6b43cb2e78f9681568e98b7ae1c5e4340ef27032"
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
  sha256 = "7765c1cd58e41f1a13f70df9a3f2824a97b93d2cca2903e5f717e8b0f1ce21b4"
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
  sha256 = "a2e6933267402dff7d329788f25558d3aacd9b5b0c0172c5a8fda2f3f35bc7b6"
}

package "dhcp/package.dnsmasq-base" {
  name  = "dnsmasq-base"
  state = "present"
}

directory "dhcp/directory.config" {
  path = "/etc/mesh-dhcp"
  mode = "0755"
}

file "dhcp/file.config" {
  path     = "/etc/mesh-dhcp/dnsmasq.conf"
  source   = "files/etc/mesh-dhcp/dnsmasq.conf"
  sha256   = "e7685e1eaf5d56d14879e9849175a49d913fb242cf58d2d84eb0002460b9f8cc"
  mode     = "0644"
  validate = ["dnsmasq", "--test", "-C", "%"]
}

file "dhcp/file.unit.server" {
  path   = "/etc/systemd/system/mesh-dhcp.service"
  source = "files/etc/systemd/system/mesh-dhcp.service"
  sha256 = "f690437ee237cac3bf38839d9025dc89ec757c3b14d5f905199ddc3a51a3a8ec"
  mode   = "0644"
}

unit "dhcp/unit.server" {
  name       = "mesh-dhcp.service"
  enabled    = true
  state      = "running"
  restart_on = ["dhcp/file.unit.server", "dhcp/file.config"]
}

package "gitea/package.runtime.ca-certificates" {
  name  = "ca-certificates"
  state = "present"
}

package "gitea/package.runtime.netavark" {
  name  = "netavark"
  state = "present"
}

package "gitea/package.runtime.podman" {
  name  = "podman"
  state = "present"
}

user "gitea/user.server" {
  name   = "git"
  uid    = 620
  system = true
  home   = "/var/lib/gitea"
  shell  = "/usr/sbin/nologin"
}

directory "gitea/directory.config" {
  path = "/etc/gitea"
  mode = "0755"
}

directory "gitea/data.repositories" {
  path  = "/var/lib/gitea"
  owner = "git"
  mode  = "0750"
}

secret "gitea/secret.needs.internal-token" {
  path       = "/etc/gitea/internal-token"
  sealed     = "sealed/gitea.needs.internal-token.age"
  generation = 1
  key        = "need gitea@board internal-token"
  role       = "holder"
  owner      = "git"
}

secret "gitea/secret.needs.lfs-secret" {
  path       = "/etc/gitea/lfs-secret"
  sealed     = "sealed/gitea.needs.lfs-secret.age"
  generation = 1
  key        = "need gitea@board lfs-secret"
  role       = "holder"
  owner      = "git"
}

secret "gitea/secret.needs.oauth-secret" {
  path       = "/etc/gitea/oauth-secret"
  sealed     = "sealed/gitea.needs.oauth-secret.age"
  generation = 1
  key        = "need gitea@board oauth-secret"
  role       = "holder"
  owner      = "git"
}

secret "gitea/secret.needs.secret-key" {
  path       = "/etc/gitea/secret-key"
  sealed     = "sealed/gitea.needs.secret-key.age"
  generation = 1
  key        = "need gitea@board secret-key"
  role       = "holder"
  owner      = "git"
}

secret "gitea/secret.requires.cache" {
  path       = "/etc/gitea/cache.password"
  sealed     = "sealed/gitea.cache.age"
  generation = 1
  key        = "credential redis@anchor cache gitea@board"
  role       = "consumer"
  owner      = "git"
}

secret "gitea/secret.requires.database" {
  path       = "/etc/gitea/database.password"
  sealed     = "sealed/gitea.database.age"
  generation = 1
  key        = "credential postgres@anchor database gitea@board"
  role       = "consumer"
  owner      = "git"
}

file "gitea/file.binds.database" {
  path   = "/etc/gitea/database.json"
  source = "files/etc/gitea/database.json"
  sha256 = "d9a70429b0b7a669e6711ed547c3b26341bc88a2faff8ff9eb4d0fa5a22c4462"
  mode   = "0644"
}

file "gitea/file.config" {
  path   = "/etc/gitea/app.ini"
  source = "files/etc/gitea/app.ini"
  sha256 = "dfb64963fb15f098be0ec07e73b7ad2f975b31ea6a88f481bc2185bfeddb2723"
  owner  = "git"
  mode   = "0600"

  fill {
    offset     = 106
    secret     = "gitea/secret.requires.cache"
    generation = 1
    encoding   = "urlencoded"
  }

  fill {
    offset     = 281
    secret     = "gitea/secret.requires.database"
    generation = 1
    encoding   = "value"
  }
}

file "gitea/file.container.server" {
  path   = "/etc/containers/systemd/gitea.container"
  source = "files/etc/containers/systemd/gitea.container"
  sha256 = "d8fba81ded4f2b02a441f71053eccf926f7cb440a5a4c6ff1dd2d28e68d42644"
  mode   = "0644"
}

unit "gitea/container.server" {
  name       = "gitea.service"
  enabled    = true
  state      = "running"
  restart_on = ["gitea/file.container.server", "gitea/file.config", "gitea/secret.needs.internal-token", "gitea/secret.needs.lfs-secret", "gitea/secret.needs.oauth-secret", "gitea/secret.needs.secret-key"]
}

package "node-exporter/package.exporter" {
  name  = "prometheus-node-exporter"
  state = "present"
}

file "node-exporter/file.arguments" {
  path   = "/etc/default/prometheus-node-exporter"
  source = "files/etc/default/prometheus-node-exporter"
  sha256 = "96c802a2c8c090ed136ac8b743c1dbfde94338cfbb6e84ce638783bb60d80529"
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
