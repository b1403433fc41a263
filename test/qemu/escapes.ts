/**
 * Ways by which arguments of QEMU reach a file of the host, or run a program of it: each was tried on a real QEMU, and none
 * is among what a host allows.
 */
export type Escape = {
  readonly what: string;
  /** Arguments that name this file, which lies outside of what the host allows. */
  readonly args: (file: string) => readonly string[];
  /** `reads`: QEMU opens the file to read it; `holds`: it has the file open; `runs`: it runs the file. */
  readonly how: 'reads' | 'holds' | 'runs';
};

const reads = (what: string, args: Escape['args']): Escape => ({ what, args, how: 'reads' });
const holds = (what: string, args: Escape['args']): Escape => ({ what, args, how: 'holds' });

/** A device that loads a file into the guest's memory, with the file named elsewhere. */
const LOADER = ['-device', 'loader,addr=0x1000,force-raw=on'];

export const ESCAPES: readonly Escape[] = [
  reads('a disk', (file) => ['-drive', `file=${file},format=raw,if=floppy,readonly=on`]),
  reads('a disk by its short name', (file) => ['-hda', file]),
  reads('a disk by a relative path', (file) => ['-hda', `../../../../../../../../../..${file}`]),
  reads('a disk as the file below a format', (file) => [
    '-drive',
    `if=none,driver=raw,file.driver=file,file.filename=${file}`,
  ]),
  reads('a disk by a protocol', (file) => ['-drive', `if=none,file=blkdebug::${file}`]),
  reads('a flash', (file) => ['-pflash', file]),
  reads('a memory card', (file) => ['-sd', file]),
  reads('a flash of a memory device', (file) => ['-mtdblock', file]),
  reads('a kernel', (file) => ['-kernel', file]),
  reads('a kernel of the machine', (file) => ['-machine', `pc,kernel=${file}`]),
  reads('a BIOS', (file) => ['-bios', file]),
  reads('a firmware of the machine', (file) => ['-machine', `pc,firmware=${file}`]),
  reads('a loader', (file) => ['-device', `loader,file=${file},addr=0x1000,force-raw=on`]),
  reads('a loader by a global', (file) => ['-global', `loader.file=${file}`, ...LOADER]),
  reads('a loader by a long global', (file) => ['-global', `driver=loader,property=file,value=${file}`, ...LOADER]),
  reads('a loader by a relative path', (file) => [
    '-global',
    `loader.file=../../../../../../../../../..${file}`,
    ...LOADER,
  ]),
  reads('a guest in the guest', (file) => ['-device', `guest-loader,addr=0x1000,initrd=${file}`]),
  reads('a picture at the boot', (file) => ['-boot', `menu=on,splash=${file}`]),
  reads('a ROM of a device', (file) => ['-device', `virtio-net-pci,romfile=${file}`]),
  reads('a ROM by a global', (file) => ['-global', `virtio-net-pci.romfile=${file}`, '-device', 'virtio-net-pci']),
  reads('a ROM', (file) => ['-option-rom', file]),
  reads('a table of SMBIOS', (file) => ['-smbios', `file=${file}`]),
  reads('a text of SMBIOS', (file) => ['-smbios', `type=11,path=${file}`]),
  reads('a table of ACPI', (file) => ['-acpitable', `file=${file}`]),
  reads('a file for the firmware', (file) => ['-fw_cfg', `name=opt/x,file=${file}`]),
  reads('a secret', (file) => ['-object', `secret,id=s,file=${file}`]),
  reads('a source of random numbers', (file) => [
    '-object',
    `rng-random,id=r,filename=${file}`,
    '-device',
    'virtio-rng-pci,rng=r',
  ]),
  reads('a recording that is played', (file) => ['-icount', `shift=1,rr=replay,rrfile=${file}`]),
  reads('a list of events to trace', (file) => ['-trace', `events=${file}`]),
  reads('options in a file', (file) => ['-readconfig', file]),
  reads('a migration from a program', (file) => ['-incoming', `exec:cat ${file}`]),
  holds('a block device', (file) => ['-blockdev', `driver=file,filename=${file},node-name=a`]),
  holds('a block device in JSON', (file) => ['-blockdev', `{"driver":"file","filename":"${file}","node-name":"a"}`]),
  holds('a block device below another', (file) => [
    '-blockdev',
    `driver=copy-on-read,node-name=a,file.driver=file,file.filename=${file}`,
  ]),
  holds('memory of the guest', (file) => ['-object', `memory-backend-file,id=m,mem-path=${file},size=1M,share=on`]),
  holds('a character device', (file) => ['-chardev', `file,id=a,path=${file}`]),
  holds('a serial port', (file) => ['-serial', `file:${file}`]),
  holds('a parallel port', (file) => ['-parallel', `file:${file}`]),
  holds('a port of the firmware', (file) => ['-debugcon', `file:${file}`]),
  holds('a log', (file) => ['-D', file, '-d', 'guest_errors']),
  { what: 'a helper of the network', args: (file) => ['-netdev', `bridge,id=n,helper=${file}`], how: 'runs' },
];

/** What cannot be shown without a network of its own or a device of the host, and is refused all the same. */
export const REFUSED: readonly (readonly string[])[] = [
  ['-netdev', 'tap,id=n,script=/usr/bin/env'],
  ['-netdev', 'tap,id=n,downscript=/usr/bin/env'],
  ['-netdev', 'user,id=n,guestfwd=tcp:10.0.2.9:1-cmd:/usr/bin/env'],
  ['-netdev', 'user,id=n,tftp=/etc,bootfile=passwd'],
  ['-netdev', 'user,id=n,smb=/etc'],
  ['-drive', 'file=fat:/etc,format=raw'],
  ['-drive', 'file=nbd:127.0.0.1:10809'],
  ['-virtfs', 'local,path=/etc,mount_tag=a,security_model=none'],
  ['-fsdev', 'local,id=f,path=/etc,security_model=none'],
  ['-device', 'vfio-pci,host=00:02.0'],
  ['-device', 'vhost-vsock-pci,guest-cid=3'],
  ['-device', 'usb-host,vendorid=0x1,productid=0x1'],
  ['-device', 'usb-mtp,rootdir=/etc'],
  ['-device', 'ivshmem-plain,memdev=m'],
  ['-chardev', 'socket,id=a,path=/run/docker.sock'],
  ['-vnc', 'unix:/run/x'],
  ['-audiodev', 'wav,id=a,path=/etc/x'],
  ['-plugin', '/etc/x.so'],
  ['-sandbox', 'off'],
  ['-machine', 'pc,dumpdtb=/etc/x'],
  ['-L', '/etc'],
  ['-qtest', 'unix:/run/x'],
];
