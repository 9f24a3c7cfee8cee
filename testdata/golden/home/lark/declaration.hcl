declaration {
  format = 2
  mesh   = "home"
  node   = "lark"
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
  sha256   = "a01f5625ccd7116bcbf93ca9f25c89b14dc06e5fdd890f58004685cb042b0e4d"
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

package "zsh/package.zsh" {
  name  = "zsh"
  state = "present"
}

package "zsh/package.zsh-autosuggestions" {
  name  = "zsh-autosuggestions"
  state = "present"
}

package "zsh/package.zsh-syntax-highlighting" {
  name  = "zsh-syntax-highlighting"
  state = "present"
}

directory "zsh/directory.rc" {
  path = "/etc/zsh/zshrc.d"
  mode = "0755"
}

file "zsh/file.rc" {
  path     = "/etc/zsh/zshrc.d/10-mesh.zsh"
  source   = "files/etc/zsh/zshrc.d/10-mesh.zsh"
  sha256   = "1ff0cd0b204101a5adc844c6459e8d32bc98af7d40718537a1dd092c5252c3a2"
  mode     = "0644"
  validate = ["zsh", "-n", "%"]
}

block "zsh/block.rc" {
  path   = "/etc/zsh/zshrc"
  marker = "zsh"
  source = "files/etc/zsh/zshrc.block/zsh"
  sha256 = "71a2643729570996743d91ec6ff301c8b267cd12861805271101c92a7f546ee0"
}

package "editor/package.editor" {
  name  = "vim"
  state = "present"
}

file "editor/file.config" {
  path   = "/etc/vim/vimrc.local"
  source = "files/etc/vim/vimrc.local"
  sha256 = "fb83f0f9800b71adc193d4a40afe64c6be2db59f7444db7097bb1985b44476cc"
  mode   = "0644"
}

block "editor/block.environment" {
  path   = "/etc/environment"
  marker = "editor"
  source = "files/etc/environment.block/editor"
  sha256 = "70a949956d4bea202243be959c19d819e5411111c09ea88dabebd1ad976d52ed"
}

package "xorg/package.lightdm" {
  name  = "lightdm"
  state = "present"
}

package "xorg/package.lightdm-gtk-greeter" {
  name  = "lightdm-gtk-greeter"
  state = "present"
}

package "xorg/package.x11-xserver-utils" {
  name  = "x11-xserver-utils"
  state = "present"
}

package "xorg/package.xserver-xorg" {
  name  = "xserver-xorg"
  state = "present"
}

package "xorg/package.xserver-xorg-input-libinput" {
  name  = "xserver-xorg-input-libinput"
  state = "present"
}

directory "xorg/directory.config" {
  path = "/etc/X11/xorg.conf.d"
  mode = "0755"
}

directory "xorg/directory.lightdm" {
  path = "/etc/lightdm/lightdm.conf.d"
  mode = "0755"
}

file "xorg/file.config" {
  path   = "/etc/X11/xorg.conf.d/20-mesh.conf"
  source = "files/etc/X11/xorg.conf.d/20-mesh.conf"
  sha256 = "9e72896672e90e45e6b018a4094f0ba5cdd6067228de3e1e42219902aa66a1b2"
  mode   = "0644"
}

file "xorg/file.lightdm" {
  path   = "/etc/lightdm/lightdm.conf.d/50-mesh.conf"
  source = "files/etc/lightdm/lightdm.conf.d/50-mesh.conf"
  sha256 = "bb85ccb55e9852b0e66becdbf0675fd8f7391e455e371ea6c8d6048a9787abf7"
  mode   = "0644"
}

unit "xorg/unit.login" {
  name    = "lightdm.service"
  enabled = true
  state   = "running"
}

package "i3/package.alacritty" {
  name  = "alacritty"
  state = "present"
}

package "i3/package.brightnessctl" {
  name  = "brightnessctl"
  state = "present"
}

package "i3/package.fonts-dejavu-core" {
  name  = "fonts-dejavu-core"
  state = "present"
}

package "i3/package.i3-wm" {
  name  = "i3-wm"
  state = "present"
}

package "i3/package.i3lock" {
  name  = "i3lock"
  state = "present"
}

package "i3/package.i3status" {
  name  = "i3status"
  state = "present"
}

package "i3/package.pulseaudio-utils" {
  name  = "pulseaudio-utils"
  state = "present"
}

package "i3/package.suckless-tools" {
  name  = "suckless-tools"
  state = "present"
}

package "i3/package.xss-lock" {
  name  = "xss-lock"
  state = "present"
}

file "i3/file.config" {
  path     = "/etc/i3/config"
  source   = "files/etc/i3/config"
  sha256   = "3a6bdd8413877a9babc702f6db9021190ca1b8766e1c895ac5277b3ed54959b3"
  mode     = "0644"
  validate = ["i3", "-C", "-c", "%"]
}

file "i3/file.status" {
  path   = "/etc/i3status.conf"
  source = "files/etc/i3status.conf"
  sha256 = "8c05f000eaf150233cb0862766ee1fc64ec2923ac4ca5ce4345ef7d43cc2aee9"
  mode   = "0644"
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
  sha256 = "166fe986a8e5335cb6341e85a3f7f466cb145abcdeec04a6919080118597e440"
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
  sha256 = "d72b6efce912c9bc9ab65c595b9950310f3892a580889f73e77745d77040eee2"
}
