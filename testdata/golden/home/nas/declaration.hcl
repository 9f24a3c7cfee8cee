declaration {
  format = 2
  mesh   = "home"
  node   = "nas"
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
  sha256   = "b9b6b9f624764ff8af7137def24d4f1808907911993e4c34f739d579e335ce1f"
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
  sha256 = "bf520a02ef3af50fca07b8a8ccb466bb52e4f8b6142b5227bffdef01f36edecb"
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
  sha256 = "97da4300149ffa04c62e4746a2c239103ec095a960cc460c9c3f73468ee958f4"
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
  sha256   = "ecd99578397d6961685696101d7daafa3ee2cc526d126532dbf4d92dd2e4ec29"
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

package "prometheus/package.prometheus" {
  name  = "prometheus"
  state = "present"
}

file "prometheus/file.arguments" {
  path   = "/etc/default/prometheus"
  source = "files/etc/default/prometheus"
  sha256 = "4d5b7df20292bd209226ec33d679e9815519368fc6b0e96c9b2bb780485d0039"
  mode   = "0644"
}

file "prometheus/file.config" {
  path     = "/etc/prometheus/prometheus.yml"
  source   = "files/etc/prometheus/prometheus.yml"
  sha256   = "0959d2cf46a5dc4ddce7f5f84650d6d760b02a5d8920031b2c6fa664f42eaad5"
  mode     = "0644"
  validate = ["promtool", "check", "config", "--syntax-only", "%"]
}

file "prometheus/file.hardening" {
  path   = "/etc/systemd/system/prometheus.service.d/mesh.conf"
  source = "files/etc/systemd/system/prometheus.service.d/mesh.conf"
  sha256 = "a7157ffd6dda25f048cf24477b6ff73e7b85a268af6fde5de94805d233b8dee4"
  mode   = "0644"
}

file "prometheus/file.rules" {
  path     = "/etc/prometheus/rules.yml"
  source   = "files/etc/prometheus/rules.yml"
  sha256   = "0a243010adb61eb4a0e9d870a463560adeeb040a5d2bfb06454bbb98f31a796e"
  mode     = "0644"
  validate = ["promtool", "check", "rules", "%"]
}

file "prometheus/file.unit.server.order" {
  path   = "/etc/systemd/system/prometheus.service.d/50-mesh-order.conf"
  source = "files/etc/systemd/system/prometheus.service.d/50-mesh-order.conf"
  sha256 = "c620c1f285e718dda09af09f2ec746cf63c9ae3bb51fa73febe61dd980112bbb"
  mode   = "0644"
}

unit "prometheus/unit.server" {
  name       = "prometheus.service"
  enabled    = true
  state      = "running"
  restart_on = ["prometheus/file.arguments", "prometheus/file.hardening"]
  reload_on  = ["prometheus/file.config", "prometheus/file.rules"]
}

package "node-exporter/package.exporter" {
  name  = "prometheus-node-exporter"
  state = "present"
}

file "node-exporter/file.arguments" {
  path   = "/etc/default/prometheus-node-exporter"
  source = "files/etc/default/prometheus-node-exporter"
  sha256 = "a71329aafe5770b05922083fb18f1790ff5bcdcd916c8a78a394eba5ea7fa999"
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
