/** The drivers and keys of QEMU's options that a launch definition may use (qemu-system(1), `-device DRIVER,help`). */

const words = (...lines: readonly string[]): ReadonlySet<string> => new Set(lines.join(' ').split(' '));

/** Keys whose value is a file, wherever they stand. */
export const FILE_KEYS = words('file filename file.filename');

export const ACCELERATORS = words('kvm tcg hvf whpx kvm:tcg');

/** Formats of disk images, and files: no protocol, no host device, no directory dressed up as a disk. */
export const BLOCK_DRIVERS = words('file raw qcow2 qed vdi vmdk vpc vhdx');

const CACHE =
  'cache cache.direct cache.no-flush cache.writeback aio discard detect-zeroes read-only readonly auto-read-only';

export const BLOCK_KEYS = words(CACHE, 'driver node-name file filename file.driver file.filename locking offset size');

export const DRIVE_KEYS = words(
  CACHE,
  'file if format driver media index bus unit id node-name serial snapshot werror rerror copy-on-read',
  'bps bps_rd bps_wr iops iops_rd iops_wr bps_max bps_rd_max bps_wr_max iops_max iops_rd_max iops_wr_max iops_size group',
  'throttling.bps-total throttling.bps-read throttling.bps-write throttling.iops-total throttling.iops-read',
  'throttling.iops-write throttling.bps-total-max throttling.iops-total-max throttling.group',
);

export const NET_TYPES = words('user tap bridge none');

/** Not `tftp`, `bootfile`, `smb`, `guestfwd`, `helper`, `fd`: files and programs of the host. */
export const NET_KEYS = words(
  'type id model mac addr vectors netdev name net host restrict hostname domainname dhcpstart dns dnssearch ipv4 ipv6',
  'ipv6-net ipv6-host ipv6-prefix ipv6-prefixlen ipv6-dns hostfwd ifname script downscript br queues vhost sndbuf vnet_hdr',
);

/** Not `firmware`, `kernel`, `initrd`, `dtb`, `dumpdtb`, and nothing that shares memory with the host. */
export const MACHINE_KEYS = words(
  'type accel acpi usb smm vmport hpet i8042 pit pic sata smbus graphics nvdimm hmat mem-merge dump-guest-core',
  'kernel-irqchip kernel_irqchip max-ram-below-4g max-fw-size pcspk-audiodev memory-backend pflash0 pflash1',
  'default-bus-bypass-iommu default_bus_bypass_iommu virtualization secure its gic-version highmem smbios-entry-point-type',
  'suppress-vmdesc x-oem-id x-oem-table-id',
);

/** Not `splash`: a picture of the host. */
export const BOOT_KEYS = words('order once menu strict splash-time reboot-timeout');

export const PLAIN_KEYS = {
  accel: words('accel thread tb-size kernel-irqchip kvm-shadow-mem dirty-ring-size split-wx one-insn-per-tb'),
  m: words('size slots maxmem'),
  smp: words('cpus sockets dies clusters cores threads maxcpus'),
  name: words('guest process debug-threads'),
  numa: words(
    'type node nodeid cpus mem memdev initiator node-id socket-id die-id core-id thread-id dist src dst val cpu',
  ),
  rtc: words('base clock driftfix'),
  // Not `file` and `path`.
  smbios: words(
    'type manufacturer product version serial uuid sku family vendor date release uefi asset location sock_pfx',
    'max-speed current-speed processor-id loc_pfx bank part speed value instance designation kind pcidev',
  ),
} as const;

const VIRTIO = 'net blk scsi rng balloon serial gpu vga keyboard mouse tablet input crypto iommu mem';

/** Devices that are nothing but the guest's: no host device, no loader, no shared memory, no directory of the host. */
export const DEVICE_DRIVERS = words(
  // `virtio-net`, and with each bus by name.
  ...VIRTIO.split(' ').flatMap((kind) =>
    ['', '-pci', '-device', '-pci-transitional', '-pci-non-transitional'].map((bus) => `virtio-${kind}${bus}`),
  ),
  'virtio-vga virtserialport virtconsole',
  'e1000 e1000-82544gc e1000-82545em e1000e igb rtl8139 vmxnet3 ne2k_pci pcnet i82550 i82551 i82557b i82559er tulip usb-net',
  'ide-hd ide-cd ide-drive scsi-hd scsi-cd nvme nvme-ns floppy isa-fdc ahci ich9-ahci piix3-ide piix4-ide sd-card',
  'lsi lsi53c895a lsi53c810 megasas megasas-gen2 mptsas1068 pvscsi am53c974',
  'qemu-xhci nec-usb-xhci usb-ehci ich9-usb-ehci1 ich9-usb-uhci1 ich9-usb-uhci2 ich9-usb-uhci3 piix3-usb-uhci pci-ohci',
  'usb-kbd usb-mouse usb-tablet usb-storage usb-hub usb-serial usb-wacom-tablet usb-bot usb-uas',
  'VGA secondary-vga bochs-display cirrus-vga vmware-svga qxl qxl-vga ramfb ati-vga',
  'pci-bridge pcie-pci-bridge pcie-root-port ioh3420 x3130-upstream xio3130-downstream pxb pxb-pcie i82801b11-bridge',
  'pvpanic pvpanic-pci i6300esb ib700 isa-debug-exit isa-serial pci-serial hpet intel-iommu amd-iommu',
  'ac97 AC97 intel-hda ich9-intel-hda hda-duplex hda-output hda-micro ES1370 sb16 usb-audio',
  'pc-dimm nvdimm vmcoreinfo vmgenid pci-testdev edu',
);

/** Not `rombar` files (`romfile` only empty), `loadvm`, `rootdir`, `hostaddr`, `path`, `filename` or `file`. */
export const DEVICE_KEYS = words(
  'driver id bus addr drive netdev mac bootindex serial chardev multifunction vectors queues num-queues num_queues',
  'queue-size rx_queue_size tx_queue_size host_mtu speed duplex failover failover_pair_id mq packed ats iommu_platform',
  'page-per-vq disable-legacy disable-modern event_idx indirect_desc csum guest_csum gso guest_tso4 guest_tso6 guest_ecn',
  'guest_ufo host_tso4 host_tso6 host_ecn host_ufo mrg_rxbuf status ctrl_vq ctrl_rx ctrl_vlan ctrl_mac_addr rss tx',
  'romfile rombar write-cache share-rw logical_block_size physical_block_size min_io_size opt_io_size discard_granularity',
  'rotation_rate wwn port_wwn port_index lun scsi-id channel unit ver model vendor product product_id device_id removable',
  'werror rerror discard write-zeroes config-wce scsi request-merging seg-max-adjust iothread cmd_per_lun max_sectors',
  'port slot chassis chassis_nr io-reserve mem-reserve bus-reserve pref64-reserve hotplug bus_nr numa_node',
  'events ioport iobase iosize irq index max-bytes period rng deflate-on-oom free-page-reporting guest-stats-polling-interval',
  'max_outputs xres yres xmax ymax ram_size vram_size ram_size_mb vram_size_mb vram64_size_mb vgamem_mb edid global-vmstate',
  'nr name max_ports emergency-write logical_block_size audiodev debug mixer msi p2 p3 ports masterbus firstport attached',
  'memdev node guid acpi-index intremap caching-mode device-iotlb aw-bits snoop-control x-speed x-width',
  'nsid cntlid max_ioqpairs mdts zoned sd-spec-version',
);
