/**
 * A guest of 512 bytes: a boot sector for QEMU's `pc` machine, as raw machine code. SeaBIOS loads it and jumps to it;
 * it writes to the first serial port and then does one thing. The ports are those of QEMU's PIIX4 power management
 * (hw/acpi/piix4.c, base 0x600) and of pvpanic (docs/specs/pvpanic.rst, 0x505).
 */

export type GuestStory = {
  /** What it writes when it has booted; a line of at most 40 ASCII characters. */
  says: string;
  /** Ticks of the BIOS clock (18.2 a second) before it goes on. */
  afterTicks?: number;
  does: /** Obeys the power button: says goodbye and powers off. */
    | 'obey'
    /** Runs on, whatever is pressed. */
    | 'ignore'
    /** Powers itself off. */
    | 'powerOff'
    /** Tells pvpanic of its panic and halts. */
    | 'panic'
    /** Resets itself, and so boots again. */
    | 'reset'
    /** Arms an ib700 watchdog for 2 s and never touches it again. */
    | 'hang'
    /** Sends itself to sleep (ACPI S3). */
    | 'sleep'
    /** Writes to its first hard disk, 16 KiB from the start, and says so; then obeys the power button. */
    | 'write';
};

const word = (value: number): number[] => [value & 0xff, value >> 8];
/** mov dx, port */
const port = (value: number): number[] => [0xba, ...word(value)];
/** mov ax, value; out dx, ax */
const outWord = (at: number, value: number): number[] => [...port(at), 0xb8, ...word(value), 0xef];
/** mov dx, 0x3f8; then mov al, character; out dx, al */
const say = (text: string): number[] => [
  ...port(0x3f8),
  ...[...Buffer.from(`${text}\n`, 'ascii')].flatMap((character) => [0xb0, character, 0xee]),
];
/** mov cx, ticks; again: sti; hlt; loop again */
const pause = (ticks: number): number[] => (ticks === 0 ? [] : [0xb9, ...word(ticks), 0xfb, 0xf4, 0xe2, 0xfc]);
/** again: sti; hlt; jmp again */
const HALT = [0xfb, 0xf4, 0xeb, 0xfc];
/** PM1_CNT: SLP_EN, sleep type 0 */
const POWER_OFF = [...outWord(0x604, 0x2000), ...HALT];
/** PM1_EN: power button. Then again: sti; hlt; in ax, dx (PM1_STS); test ah, 1; jz again */
const AWAIT_BUTTON = [...outWord(0x602, 0x0100), ...port(0x600), 0xfb, 0xf4, 0xed, 0xf6, 0xc4, 0x01, 0x74, 0xf8];

/** xor ax, ax; mov es, ax; mov bx, 0x7c00 */
const BUFFER = [0x31, 0xc0, 0x8e, 0xc0, 0xbb, ...word(0x7c00)];
/** mov ax, write one sector; mov cx, cylinder 0 and sector 32; mov dx, head 0 of disk 0x80; int 0x13 */
const WRITE_DISK = [...BUFFER, 0xb8, ...word(0x0301), 0xb9, ...word(32), 0xba, ...word(0x80), 0xcd, 0x13];
const OBEY = [...AWAIT_BUTTON, ...say('bye'), ...POWER_OFF];

const DOES: Readonly<Record<GuestStory['does'], readonly number[]>> = {
  obey: OBEY,
  ignore: HALT,
  powerOff: POWER_OFF,
  // mov dx, 0x505; mov al, 1 (panicked); out dx, al
  panic: [...port(0x505), 0xb0, 0x01, 0xee, ...HALT],
  // mov al, 0xfe; out 0x64, al: the keyboard controller pulls the reset line.
  reset: [0xb0, 0xfe, 0xe6, 0x64, ...HALT],
  // mov al, 0x0e; out 0x443 (hw/watchdog/wdt_ib700.c: two seconds)
  hang: [...port(0x443), 0xb0, 0x0e, 0xee, ...HALT],
  // PM1_CNT: SLP_EN, sleep type 1
  sleep: [...outWord(0x604, 0x2400), ...HALT],
  write: [...WRITE_DISK, ...say('written'), ...OBEY],
};

/** The image of a guest, to be given to QEMU as a raw floppy disk. */
export function bootSector({ says, afterTicks = 0, does }: GuestStory): Buffer {
  const code = [...say(says), ...pause(afterTicks), ...DOES[does]];
  if (code.length > 510) throw new Error(`the guest has ${code.length} bytes of code; a boot sector holds 510`);
  const sector = Buffer.alloc(512);
  sector.set(code);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

/** The arguments of a launch definition that boots such an image, without any hardware acceleration. */
export const guestArgs = (image: string): string[] =>
  '-machine pc -accel tcg -m 16 -nodefaults -device pvpanic'
    .split(' ')
    .concat('-drive', `file=${image},format=raw,if=floppy,readonly=on`);
