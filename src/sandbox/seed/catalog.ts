/**
 * The catalogue of a reseller. A line becomes one product for each pair of model and variant. Margins: hardware
 * 8–20 %, subscriptions 12–22 %, services 40–60 %. Recurring prices: 10–250 per unit and month.
 */
export interface ProductLine {
  maker: string;
  /** Product name: `{m}` is the model, `{v}` the variant. */
  name: string;
  models: readonly string[];
  variants: readonly string[];
  /** Cost of the first and the last model, in the tenant's currency; per unit and term. */
  cost: readonly [number, number];
  /** Usual markup in percent, from and to. */
  markup: readonly [number, number];
  category: string;
  mpn: string;
  type: 'product' | 'service' | 'labor';
  unit: string;
  terms: readonly ('' | 'month' | 'year')[];
}

const list = (text: string) => text.split(';').map((part) => part.trim());

const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()));

type Shared = Pick<ProductLine, 'type' | 'markup' | 'terms'>;

/** Reads a table: maker | part number | category | cost of the first and last model | unit | name | models | variants. */
const linesOf = (shared: Shared, table: string): ProductLine[] =>
  rowsOf(table).map((cells) => {
    const [maker = '', mpn = '', category = '', costs = '', unit = '', name = '', ...lists] = cells;
    const [first = 0, last = 0] = costs.split('–').map(Number);
    const [models = [], variants = []] = lists.map(list);
    return { ...shared, maker, mpn, category, cost: [first, last], unit, name, models, variants };
  });

export const categories: readonly string[] = list(`
  Hardware/Computers/Laptops; Hardware/Computers/Desktops; Hardware/Computers/Workstations;
  Hardware/Peripherals/Monitors; Hardware/Peripherals/Docks; Hardware/Peripherals/Headsets;
  Hardware/Peripherals/Telephones; Hardware/Premises/Cameras; Hardware/Premises/Door readers;
  Hardware/Servers/Rack servers; Hardware/Servers/Storage; Hardware/Servers/UPS;
  Hardware/Printers/Laser printers; Hardware/Printers/Label printers;
  Networking/Security/Firewalls; Networking/Wireless/Access points; Networking/Switching/Switches;
  Networking/Cabling/Patch cables; Networking/Cabling/Racks;
  Software/Productivity/Office suites; Software/Security/Endpoint protection;
  Software/Security/Mail security; Software/Backup/Cloud backup; Software/Backup/Server backup;
  Software/Productivity/Business applications; Software/Management/Remote management; Software/Design/Design tools;
  Cloud/Infrastructure/Compute; Cloud/Infrastructure/Cloud storage; Cloud/Voice/Telephony;
  Services/Managed services/Endpoint care; Services/Managed services/Server care;
  Services/Managed services/Security operations; Services/Projects/Onboarding;
  Services/Projects/Assessments; Services/Projects/Migrations; Services/Labor/Engineering;
  Services/Labor/Travel; Bundles/Workplace/Starter kits; Bundles/Sites/Branch offices;
  Legacy/Discontinued/Tapes; Legacy/Discontinued/Fax`);

const RAM = 'i5 / 16 GB / 512 GB; i7 / 16 GB / 512 GB; i7 / 32 GB / 1 TB; Ryzen 5 / 16 GB / 512 GB';

export const lines: readonly ProductLine[] = [
  ...linesOf(
    { type: 'product', markup: [8.7, 25], terms: [''] },
    `
    Dell | LAT | Laptops | 610–1480 | piece | Dell Latitude {m} laptop, {v} | 3450; 5350; 5450; 5550; 7350; 7450; 7650 | ${RAM}
    Lenovo | 21 | Laptops | 590–1690 | piece | Lenovo ThinkPad {m}, {v} | E14; E16; L14; T14; T16; X1 Carbon; P14s | ${RAM}
    HP | 8A | Laptops | 640–1510 | piece | HP EliteBook {m}, {v} | 630; 640; 660; 840; 860; 1040 | ${RAM}
    Dell | OPX | Desktops | 480–990 | piece | Dell OptiPlex {m}, {v} | 3000; 5000; 7010; 7020; 7420 | ${RAM}
    Lenovo | 11 | Desktops | 430–910 | piece | Lenovo ThinkCentre {m}, {v} | M70q; M75s; M90q; M90s; Neo 50 | ${RAM}
    HP | 5F | Workstations | 1240–3900 | piece | HP Z{m} workstation, {v} | 1 G9; 2 G9; 4 G5; 6 G5 | ${RAM}
    Dell | MON | Monitors | 110–620 | piece | Dell {m}" monitor {v} | 22; 24; 27; 32; 34 | P series; U series USB-C; S series
    LG | LGD | Monitors | 105–540 | piece | LG {m}" business display {v} | 24; 27; 32; 34; 43 | IPS; USB-C; curved
    Lenovo | 40 | Docks | 95–240 | piece | ThinkPad {m} dock, {v} | USB-C; Thunderbolt 4; hybrid | 65 W; 90 W; 135 W
    Jabra | JAB | Headsets | 48–290 | piece | Jabra {m} headset, {v} | Evolve2 30; Evolve2 40; Evolve2 65; Evolve2 85; Engage 55 | mono; stereo; stereo with stand
    Dell | PE | Rack servers | 1150–9400 | piece | Dell PowerEdge {m}, {v} | T150; T350; R250; R350; R450; R650; R760 | 32 GB / 2 × 480 GB; 64 GB / 4 × 960 GB; 128 GB / 8 × 1.92 TB
    HPE | P5 | Rack servers | 1090–8900 | piece | HPE ProLiant {m}, {v} | ML30; ML110; DL20; DL325; DL360; DL380 | 32 GB / 2 × 480 GB; 64 GB / 4 × 960 GB; 128 GB / 8 × 1.92 TB
    Synology | SYN | Storage | 520–4700 | piece | Synology {m} storage, {v} | DS923+; DS1522+; RS822+; RS2423+; FS2500 | diskless; 4 × 8 TB; 4 × 16 TB
    APC | SMT | UPS | 280–1650 | piece | APC Smart-UPS {m}, {v} | 750; 1000; 1500; 2200; 3000 | tower; rack 2U; rack 2U with network card
    Brother | BRO | Laser printers | 190–980 | piece | Brother {m} printer, {v} | HL-L5210; MFC-L5710; MFC-L6710; HL-L9430; MFC-L9630 | base; duplex tray; secure release
    Zebra | ZD | Label printers | 230–1100 | piece | Zebra {m} label printer, {v} | ZD230; ZD421; ZD621; ZT231 | 203 dpi; 300 dpi; 300 dpi with cutter
    Fortinet | FG | Firewalls | 310–6800 | piece | FortiGate {m} firewall, {v} | 40F; 60F; 70F; 80F; 100F; 200F | hardware; with 1 year UTP; with 3 years UTP; with 5 years UTP
    SonicWall | 02-SSC | Firewalls | 260–2900 | piece | SonicWall TZ{m}, {v} | 270; 370; 470; 570; 670 | appliance; TotalSecure 1 year; TotalSecure 3 years
    Ubiquiti | UAP | Access points | 85–760 | piece | UniFi {m} access point, {v} | U6 Lite; U6 Pro; U6 Enterprise; U7 Pro; U7 Outdoor | single; with injector; with mounting kit
    Cisco | MR | Access points | 240–1500 | piece | Cisco Meraki {m}, {v} | MR28; MR36; MR46; MR57; MR78 | device; with 1 year licence; with 3 years licence
    Aruba | JL | Switches | 95–2300 | piece | Aruba Instant On {m} switch, {v} | 1830; 1930; 1960; 6100; 6200 | 8 ports; 24 ports; 24 ports PoE; 48 ports PoE
    Cisco | C9 | Switches | 320–4100 | piece | Cisco Catalyst {m} switch, {v} | 1200; 1300; 9200L; 9300 | 24 ports; 24 ports PoE+; 48 ports PoE+
    Delock | DEL | Patch cables | 2.1–14 | piece | Patch cable {m}, {v} | Cat 6 S/FTP; Cat 6A S/FTP; OM4 duplex | 0.5 m; 1 m; 2 m; 5 m; 10 m
    Rittal | DK | Racks | 540–1480 | piece | Rittal rack {m}, {v} | 24U; 42U; 47U | 600 mm; 800 mm; 800 mm with doors
    Yealink | SIP | Telephones | 52–195 | piece | Yealink {m} telephone, {v} | T33G; T43U; T54W; T57W; T58W | desk; with wall mount; with key module
    Axis | AX | Cameras | 190–820 | piece | Axis {m} camera, {v} | M2035; M3085; P3265; P3268; Q3536 | indoor; outdoor; outdoor with mast mount
    Salto | SAL | Door readers | 310–980 | piece | Salto {m} door reader, {v} | Design XS Mini; Design XS; Design XS Mullion | card; card and Bluetooth; card and keypad`,
  ),
  ...linesOf(
    { type: 'product', markup: [14, 28], terms: ['month', 'year'] },
    `
    Microsoft | CFQ7TTC | Office suites | 9.4–44 | seat | Microsoft 365 {m}, {v} | Business Standard; Business Premium; F3; E3; E5 | with Teams; without Teams
    Microsoft | CFQ7APP | Business applications | 9–31 | seat | {m}, {v} | Power BI Pro; Visio Plan 2; Copilot add-on; Project Plan 3; Defender and Purview suite | commercial; non-profit
    Google | GWS | Office suites | 11–22 | seat | Google Workspace {m}, {v} | Business Standard; Business Plus; Enterprise | commercial; with Vault
    SentinelOne | S1 | Endpoint protection | 8.8–17 | seat | SentinelOne Singularity {m}, {v} | Core; Control; Complete; Commercial | workstation; server; mobile
    Bitdefender | BD | Endpoint protection | 8.8–15.5 | seat | GravityZone {m}, {v} | Business Security; Premium; Enterprise; MDR | workstation; server; with encryption
    Proofpoint | PP | Mail security | 8.8–13 | seat | Proofpoint Essentials {m}, {v} | Business; Advanced; Professional | mailbox; mailbox with archive
    Veeam | V- | Server backup | 9–31 | workload | Veeam {m}, {v} | Backup Essentials; Data Platform Foundation; Data Platform Advanced; Data Platform Premium | per workload; per workload, off site
    Acronis | ACR | Cloud backup | 8.8–26 | device | Acronis Cyber Protect {m}, {v} | Mobile; Workstation; Server; Hosted server | 100 GB; 500 GB; 1 TB
    NinjaOne | NJ | Remote management | 8.8–12 | device | NinjaOne {m}, {v} | Patch management; Remote management; Remote management with ticketing | per device; per device with remote control
    Adobe | 65 | Design tools | 11–74 | seat | Adobe {m}, {v} | Acrobat Standard; Acrobat Pro; Photoshop; Creative Cloud All Apps | teams; enterprise
    Microsoft | AZ-VM | Compute | 28–170 | instance | Azure {m}, {v} | B2s virtual machine; SQL Database; D4s virtual machine; E8s virtual machine | pay as you go; reserved 1 year
    Wasabi | WAS | Cloud storage | 8.9–17 | TB | Wasabi {m}, {v} | hot storage; hot storage with replication | standard; immutable
    3CX | 3CX | Telephony | 9–32 | seat | 3CX telephony {m}, {v} | Basic; Pro; Enterprise; Contact centre | user; user with mobile app; user with recording`,
  ),
  ...linesOf(
    { type: 'service', markup: [67, 150], terms: ['month'] },
    `
     |  | Endpoint care | 7–21 | device | Managed {m} care, {v} | mobile; printer; thin client; desktop; laptop | essential; standard; premium
     |  | Server care | 38–80 | server | Managed {m} care, {v} | backup; server; domain controller; hypervisor; database | business hours; extended hours; 24 × 7`,
  ),
  ...linesOf(
    { type: 'service', markup: [67, 150], terms: ['month', 'year'] },
    `
     |  | Security operations | 5.2–16 | seat | {m}, {v} | Phishing simulation; Log retention; Vulnerability scanning; Managed detection and response | business hours; extended hours; 24 × 7`,
  ),
  ...linesOf(
    { type: 'service', markup: [67, 150], terms: [''] },
    `
     |  | Onboarding | 190–900 | site | {v}, {m} | small site; medium site; large site | Onboarding; Workstation imaging; Network installation; Cabling certification
     |  | Assessments | 320–900 | project | {m}, {v} | Licence audit; Wi-Fi survey; Security assessment; Disaster recovery test | remote; on site
     |  | Migrations | 16–58 | user | {m} migration, {v} | Telephone number; Mailbox; File share; Cloud workplace | per user, remote; per user, at night; per user, on site`,
  ),
  ...linesOf(
    { type: 'labor', markup: [67, 150], terms: [''] },
    `
     |  | Engineering | 34–66 | hour | {m}, {v} | Support technician; System engineer; Network engineer; Project manager; Security consultant; Architect | business hours; after hours; weekend; on site; remote
     |  | Travel | 25–60 | trip | {m}, {v} | Travel flat rate; Travel time | zone 1; zone 2; zone 3`,
  ),
];

/** A kit of one category: how many of which kinds of products, all billed alike. */
export interface Kit {
  name: string;
  category: string;
  parts: readonly (readonly [count: number, category: string])[];
  term: '' | 'month';
}

/** Name, category, term and parts. The first part of a kit is in its name. */
const kitTable = `
  New starter kit | Starter kits | | 1 Laptops, 1 Docks, 2 Monitors, 1 Headsets
  Home office kit | Starter kits | | 1 Laptops, 1 Monitors, 1 Headsets
  Front desk kit | Starter kits | | 1 Desktops, 2 Monitors, 1 Telephones, 1 Label printers
  Secure workplace | Starter kits | month | 1 Office suites, 1 Endpoint protection, 1 Endpoint care
  Branch office in a box | Branch offices | | 1 Firewalls, 1 Switches, 3 Access points, 1 UPS
  Server room refresh | Branch offices | | 2 Rack servers, 1 Storage, 2 UPS, 1 Racks
  Door and camera kit | Branch offices | | 2 Door readers, 2 Cameras, 1 Switches`;

export const kits: readonly Kit[] = rowsOf(kitTable).map(
  ([name = '', category = '', term, parts = '']) => ({
    ...{ name, category, term: term === 'month' ? term : '' },
    parts: parts.split(', ').map((part) => {
      const [count = '', ...words] = part.split(' ');
      return [Number(count), words.join(' ')];
    }),
  }),
);
