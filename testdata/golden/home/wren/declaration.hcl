declaration {
  format = 2
  mesh   = "home"
  node   = "wren"
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
  sha256   = "421603fd0d7a23293f3f4ccb50de71530addc2d00c8e1e9980cfddf2fb5f4382"
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

package "fish/package.fish" {
  name  = "fish"
  state = "present"
}

file "fish/file.conf" {
  path     = "/etc/fish/conf.d/10-mesh.fish"
  source   = "files/etc/fish/conf.d/10-mesh.fish"
  sha256   = "2e4869f66dabb2fc90864e36a5d5d3e6a9a63650fa52c54067bb4d63eb126daf"
  mode     = "0644"
  validate = ["fish", "--no-execute", "%"]
}

package "editor/package.editor" {
  name  = "neovim"
  state = "present"
}

directory "editor/directory.config" {
  path = "/etc/xdg/nvim"
  mode = "0755"
}

file "editor/file.config" {
  path   = "/etc/xdg/nvim/sysinit.vim"
  source = "files/etc/xdg/nvim/sysinit.vim"
  sha256 = "70ad1587bbd796048311f3ba82d1ea4256e0190c00bd09ddd383f77d34828753"
  mode   = "0644"
}

block "editor/block.environment" {
  path   = "/etc/environment"
  marker = "editor"
  source = "files/etc/environment.block/editor"
  sha256 = "69a1323b0409d83cec2b622861fad7e21d9894dd0c66a85cb8fc29ba61f600d8"
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
  sha256 = "361d74e7dc1f845d3add61a11c28b0c7f307183c422a6947eb2277feab5f747c"
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

package "model-client/package.curl" {
  name  = "curl"
  state = "present"
}

package "model-client/package.jq" {
  name  = "jq"
  state = "present"
}

user "model-client/user.model-client" {
  name   = "model-client"
  system = true
  home   = "/nonexistent"
  shell  = "/usr/sbin/nologin"
}

directory "model-client/directory.config" {
  path = "/etc/model-client"
  mode = "0755"
}

secret "model-client/secret.requires.access" {
  path       = "/etc/model-client/key"
  sealed     = "sealed/model-client.access.age"
  generation = 1
  key        = "licence personal"
  role       = "holder"
  group      = "model-client"
  mode       = "0640"
}

file "model-client/file.ask" {
  path     = "/usr/local/bin/ask"
  source   = "files/usr/local/bin/ask"
  sha256   = "cc6b735c219a1770bf013f94c6b848e75af381c62c60443cb01f30dbb272e898"
  mode     = "0755"
  validate = ["sh", "-n", "%"]
}

file "model-client/file.config" {
  path   = "/etc/model-client/config.json"
  source = "files/etc/model-client/config.json"
  sha256 = "21b00eb422fff409f4fadcf1adb10a2895f40bdc8689a10c0f62186c4af3691e"
  mode   = "0644"
}

file "model-client/file.headers" {
  path   = "/etc/model-client/headers"
  source = "files/etc/model-client/headers"
  sha256 = "3f718edc93c95337a409c5e449a8121c62e9e44a8462744afd186325e21b1c54"
  group  = "model-client"
  mode   = "0640"

  fill {
    offset     = 22
    secret     = "model-client/secret.requires.access"
    generation = 1
    encoding   = "value"
  }
}

block "mesh-names/computed.hosts" {
  path   = "/etc/hosts"
  marker = "mesh home"
  source = "files/etc/hosts.block/mesh_home"
  sha256 = "271dc4795fb998c019b378d8d802d9b199688dc6345d66f52aa1ebb84de67a86"
}

package "wayland/package.dbus-user-session" {
  name  = "dbus-user-session"
  state = "present"
}

package "wayland/package.greetd" {
  name  = "greetd"
  state = "present"
}

package "wayland/package.libgl1-mesa-dri" {
  name  = "libgl1-mesa-dri"
  state = "present"
}

package "wayland/package.xdg-desktop-portal" {
  name  = "xdg-desktop-portal"
  state = "present"
}

package "wayland/package.xdg-desktop-portal-gtk" {
  name  = "xdg-desktop-portal-gtk"
  state = "present"
}

package "wayland/package.xwayland" {
  name  = "xwayland"
  state = "present"
}

file "wayland/file.login" {
  path   = "/etc/greetd/config.toml"
  source = "files/etc/greetd/config.toml"
  sha256 = "e31ebc8035b837d9f529d3aa6257ddde96be38543cbf9f46dd868a0b06f5222d"
  mode   = "0644"
}

unit "wayland/unit.login" {
  name    = "greetd.service"
  enabled = true
  state   = "running"
}

package "sway/package.brightnessctl" {
  name  = "brightnessctl"
  state = "present"
}

package "sway/package.fonts-dejavu-core" {
  name  = "fonts-dejavu-core"
  state = "present"
}

package "sway/package.foot" {
  name  = "foot"
  state = "present"
}

package "sway/package.grim" {
  name  = "grim"
  state = "present"
}

package "sway/package.pulseaudio-utils" {
  name  = "pulseaudio-utils"
  state = "present"
}

package "sway/package.sway" {
  name  = "sway"
  state = "present"
}

package "sway/package.swayidle" {
  name  = "swayidle"
  state = "present"
}

package "sway/package.swaylock" {
  name  = "swaylock"
  state = "present"
}

package "sway/package.waybar" {
  name  = "waybar"
  state = "present"
}

package "sway/package.wofi" {
  name  = "wofi"
  state = "present"
}

package "sway/package.xdg-desktop-portal-wlr" {
  name  = "xdg-desktop-portal-wlr"
  state = "present"
}

file "sway/file.bar" {
  path   = "/etc/xdg/waybar/config"
  source = "files/etc/xdg/waybar/config"
  sha256 = "7076ece1aced9f756c1d937d6e2c92d8759c2d99aabebb375cfb7c5b0895210f"
  mode   = "0644"
}

file "sway/file.config" {
  path   = "/etc/sway/config"
  source = "files/etc/sway/config"
  sha256 = "743f9fc3246fcf9c92a98e8a08b4175a9a25d94f1b6957c7200a8482194c7243"
  mode   = "0644"
}
