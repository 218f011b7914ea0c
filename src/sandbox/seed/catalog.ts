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
  /** Cost of the one-time setup, for recurring products. */
  setupCost?: number;
}

const list = (text: string) => text.split(';').map((part) => part.trim());

const hardware = (
  maker: string,
  name: string,
  models: string,
  variants: string,
  cost: readonly [number, number],
  category: string,
  mpn: string,
): ProductLine => ({
  maker,
  name,
  models: list(models),
  variants: list(variants),
  cost,
  markup: [8.7, 25],
  category,
  mpn,
  type: 'product',
  unit: 'piece',
  terms: [''],
});

const subscription = (
  maker: string,
  name: string,
  models: string,
  variants: string,
  cost: readonly [number, number],
  category: string,
  mpn: string,
  unit = 'seat',
): ProductLine => ({
  ...hardware(maker, name, models, variants, cost, category, mpn),
  markup: [14, 28],
  unit,
  terms: ['month', 'year'],
});

const service = (
  name: string,
  models: string,
  variants: string,
  cost: readonly [number, number],
  category: string,
  unit: string,
  terms: ProductLine['terms'],
): ProductLine => ({
  ...hardware('', name, models, variants, cost, category, ''),
  markup: [67, 150],
  type: 'service',
  unit,
  terms,
  ...(terms[0] ? { setupCost: 45 } : {}),
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
  hardware(
    'Dell',
    'Dell Latitude {m} laptop, {v}',
    '3450; 5350; 5450; 5550; 7350; 7450; 7650',
    RAM,
    [610, 1480],
    'Laptops',
    'LAT',
  ),
  hardware(
    'Lenovo',
    'Lenovo ThinkPad {m}, {v}',
    'E14; E16; L14; T14; T16; X1 Carbon; P14s',
    RAM,
    [590, 1690],
    'Laptops',
    '21',
  ),
  hardware(
    'HP',
    'HP EliteBook {m}, {v}',
    '630; 640; 660; 840; 860; 1040',
    RAM,
    [640, 1510],
    'Laptops',
    '8A',
  ),
  hardware(
    'Dell',
    'Dell OptiPlex {m}, {v}',
    '3000; 5000; 7010; 7020; 7420',
    RAM,
    [480, 990],
    'Desktops',
    'OPX',
  ),
  hardware(
    'Lenovo',
    'Lenovo ThinkCentre {m}, {v}',
    'M70q; M75s; M90q; M90s; Neo 50',
    RAM,
    [430, 910],
    'Desktops',
    '11',
  ),
  hardware(
    'HP',
    'HP Z{m} workstation, {v}',
    '1 G9; 2 G9; 4 G5; 6 G5',
    RAM,
    [1240, 3900],
    'Workstations',
    '5F',
  ),
  hardware(
    'Dell',
    'Dell {m}" monitor {v}',
    '22; 24; 27; 32; 34',
    'P series; U series USB-C; S series',
    [110, 620],
    'Monitors',
    'MON',
  ),
  hardware(
    'LG',
    'LG {m}" business display {v}',
    '24; 27; 32; 34; 43',
    'IPS; USB-C; curved',
    [105, 540],
    'Monitors',
    'LGD',
  ),
  hardware(
    'Lenovo',
    'ThinkPad {m} dock, {v}',
    'USB-C; Thunderbolt 4; hybrid',
    '65 W; 90 W; 135 W',
    [95, 240],
    'Docks',
    '40',
  ),
  hardware(
    'Jabra',
    'Jabra {m} headset, {v}',
    'Evolve2 30; Evolve2 40; Evolve2 65; Evolve2 85; Engage 55',
    'mono; stereo; stereo with stand',
    [48, 290],
    'Headsets',
    'JAB',
  ),
  hardware(
    'Dell',
    'Dell PowerEdge {m}, {v}',
    'T150; T350; R250; R350; R450; R650; R760',
    '32 GB / 2 × 480 GB; 64 GB / 4 × 960 GB; 128 GB / 8 × 1.92 TB',
    [1150, 9400],
    'Rack servers',
    'PE',
  ),
  hardware(
    'HPE',
    'HPE ProLiant {m}, {v}',
    'ML30; ML110; DL20; DL325; DL360; DL380',
    '32 GB / 2 × 480 GB; 64 GB / 4 × 960 GB; 128 GB / 8 × 1.92 TB',
    [1090, 8900],
    'Rack servers',
    'P5',
  ),
  hardware(
    'Synology',
    'Synology {m} storage, {v}',
    'DS923+; DS1522+; RS822+; RS2423+; FS2500',
    'diskless; 4 × 8 TB; 4 × 16 TB',
    [520, 4700],
    'Storage',
    'SYN',
  ),
  hardware(
    'APC',
    'APC Smart-UPS {m}, {v}',
    '750; 1000; 1500; 2200; 3000',
    'tower; rack 2U; rack 2U with network card',
    [280, 1650],
    'UPS',
    'SMT',
  ),
  hardware(
    'Brother',
    'Brother {m} printer, {v}',
    'HL-L5210; MFC-L5710; MFC-L6710; HL-L9430; MFC-L9630',
    'base; duplex tray; secure release',
    [190, 980],
    'Laser printers',
    'BRO',
  ),
  hardware(
    'Zebra',
    'Zebra {m} label printer, {v}',
    'ZD230; ZD421; ZD621; ZT231',
    '203 dpi; 300 dpi; 300 dpi with cutter',
    [230, 1100],
    'Label printers',
    'ZD',
  ),
  hardware(
    'Fortinet',
    'FortiGate {m} firewall, {v}',
    '40F; 60F; 70F; 80F; 100F; 200F',
    'hardware; with 1 year UTP; with 3 years UTP; with 5 years UTP',
    [310, 6800],
    'Firewalls',
    'FG',
  ),
  hardware(
    'SonicWall',
    'SonicWall TZ{m}, {v}',
    '270; 370; 470; 570; 670',
    'appliance; TotalSecure 1 year; TotalSecure 3 years',
    [260, 2900],
    'Firewalls',
    '02-SSC',
  ),
  hardware(
    'Ubiquiti',
    'UniFi {m} access point, {v}',
    'U6 Lite; U6 Pro; U6 Enterprise; U7 Pro; U7 Outdoor',
    'single; with injector; with mounting kit',
    [85, 760],
    'Access points',
    'UAP',
  ),
  hardware(
    'Cisco',
    'Cisco Meraki {m}, {v}',
    'MR28; MR36; MR46; MR57; MR78',
    'device; with 1 year licence; with 3 years licence',
    [240, 1500],
    'Access points',
    'MR',
  ),
  hardware(
    'Aruba',
    'Aruba Instant On {m} switch, {v}',
    '1830; 1930; 1960; 6100; 6200',
    '8 ports; 24 ports; 24 ports PoE; 48 ports PoE',
    [95, 2300],
    'Switches',
    'JL',
  ),
  hardware(
    'Cisco',
    'Cisco Catalyst {m} switch, {v}',
    '1200; 1300; 9200L; 9300',
    '24 ports; 24 ports PoE+; 48 ports PoE+',
    [320, 4100],
    'Switches',
    'C9',
  ),
  hardware(
    'Delock',
    'Patch cable {m}, {v}',
    'Cat 6 S/FTP; Cat 6A S/FTP; OM4 duplex',
    '0.5 m; 1 m; 2 m; 5 m; 10 m',
    [2.1, 14],
    'Patch cables',
    'DEL',
  ),
  hardware(
    'Rittal',
    'Rittal rack {m}, {v}',
    '24U; 42U; 47U',
    '600 mm; 800 mm; 800 mm with doors',
    [540, 1480],
    'Racks',
    'DK',
  ),
  hardware(
    'Yealink',
    'Yealink {m} telephone, {v}',
    'T33G; T43U; T54W; T57W; T58W',
    'desk; with wall mount; with key module',
    [52, 195],
    'Telephones',
    'SIP',
  ),
  hardware(
    'Axis',
    'Axis {m} camera, {v}',
    'M2035; M3085; P3265; P3268; Q3536',
    'indoor; outdoor; outdoor with mast mount',
    [190, 820],
    'Cameras',
    'AX',
  ),
  hardware(
    'Salto',
    'Salto {m} door reader, {v}',
    'Design XS Mini; Design XS; Design XS Mullion',
    'card; card and Bluetooth; card and keypad',
    [310, 980],
    'Door readers',
    'SAL',
  ),
  subscription(
    'Microsoft',
    'Microsoft 365 {m}, {v}',
    'Business Standard; Business Premium; F3; E3; E5',
    'with Teams; without Teams',
    [9.4, 44],
    'Office suites',
    'CFQ7TTC',
  ),
  subscription(
    'Microsoft',
    '{m}, {v}',
    'Power BI Pro; Visio Plan 2; Copilot add-on; Project Plan 3; Defender and Purview suite',
    'commercial; non-profit',
    [9, 31],
    'Business applications',
    'CFQ7APP',
  ),
  subscription(
    'Google',
    'Google Workspace {m}, {v}',
    'Business Standard; Business Plus; Enterprise',
    'commercial; with Vault',
    [11, 22],
    'Office suites',
    'GWS',
  ),
  subscription(
    'SentinelOne',
    'SentinelOne Singularity {m}, {v}',
    'Core; Control; Complete; Commercial',
    'workstation; server; mobile',
    [8.8, 17],
    'Endpoint protection',
    'S1',
  ),
  subscription(
    'Bitdefender',
    'GravityZone {m}, {v}',
    'Business Security; Premium; Enterprise; MDR',
    'workstation; server; with encryption',
    [8.8, 15.5],
    'Endpoint protection',
    'BD',
  ),
  subscription(
    'Proofpoint',
    'Proofpoint Essentials {m}, {v}',
    'Business; Advanced; Professional',
    'mailbox; mailbox with archive',
    [8.8, 13],
    'Mail security',
    'PP',
  ),
  subscription(
    'Veeam',
    'Veeam {m}, {v}',
    'Backup Essentials; Data Platform Foundation; Data Platform Advanced; Data Platform Premium',
    'per workload; per workload, off site',
    [9, 31],
    'Server backup',
    'V-',
    'workload',
  ),
  subscription(
    'Acronis',
    'Acronis Cyber Protect {m}, {v}',
    'Mobile; Workstation; Server; Hosted server',
    '100 GB; 500 GB; 1 TB',
    [8.8, 26],
    'Cloud backup',
    'ACR',
    'device',
  ),
  subscription(
    'NinjaOne',
    'NinjaOne {m}, {v}',
    'Patch management; Remote management; Remote management with ticketing',
    'per device; per device with remote control',
    [8.8, 12],
    'Remote management',
    'NJ',
    'device',
  ),
  subscription(
    'Adobe',
    'Adobe {m}, {v}',
    'Acrobat Standard; Acrobat Pro; Photoshop; Creative Cloud All Apps',
    'teams; enterprise',
    [11, 74],
    'Design tools',
    '65',
  ),
  subscription(
    'Microsoft',
    'Azure {m}, {v}',
    'B2s virtual machine; SQL Database; D4s virtual machine; E8s virtual machine',
    'pay as you go; reserved 1 year',
    [28, 170],
    'Compute',
    'AZ-VM',
    'instance',
  ),
  subscription(
    'Wasabi',
    'Wasabi {m}, {v}',
    'hot storage; hot storage with replication',
    'standard; immutable',
    [8.9, 17],
    'Cloud storage',
    'WAS',
    'TB',
  ),
  subscription(
    '3CX',
    '3CX telephony {m}, {v}',
    'Basic; Pro; Enterprise; Contact centre',
    'user; user with mobile app; user with recording',
    [9, 32],
    'Telephony',
    '3CX',
  ),
  service(
    'Managed {m} care, {v}',
    'mobile; printer; thin client; desktop; laptop',
    'essential; standard; premium',
    [7, 21],
    'Endpoint care',
    'device',
    ['month'],
  ),
  service(
    'Managed {m} care, {v}',
    'backup; server; domain controller; hypervisor; database',
    'business hours; extended hours; 24 × 7',
    [38, 80],
    'Server care',
    'server',
    ['month'],
  ),
  service(
    '{m}, {v}',
    'Phishing simulation; Log retention; Vulnerability scanning; Managed detection and response',
    'business hours; extended hours; 24 × 7',
    [5.2, 16],
    'Security operations',
    'seat',
    ['month', 'year'],
  ),
  service(
    '{v}, {m}',
    'small site; medium site; large site',
    'Onboarding; Workstation imaging; Network installation; Cabling certification',
    [190, 900],
    'Onboarding',
    'site',
    [''],
  ),
  service(
    '{m}, {v}',
    'Licence audit; Wi-Fi survey; Security assessment; Disaster recovery test',
    'remote; on site',
    [320, 900],
    'Assessments',
    'project',
    [''],
  ),
  service(
    '{m} migration, {v}',
    'Telephone number; Mailbox; File share; Cloud workplace',
    'per user, remote; per user, at night; per user, on site',
    [16, 58],
    'Migrations',
    'user',
    [''],
  ),
  {
    ...service(
      '{m}, {v}',
      'Support technician; System engineer; Network engineer; Project manager; Security consultant; Architect',
      'business hours; after hours; weekend; on site; remote',
      [34, 66],
      'Engineering',
      'hour',
      [''],
    ),
    type: 'labor',
  },
  {
    ...service(
      '{m}, {v}',
      'Travel flat rate; Travel time',
      'zone 1; zone 2; zone 3',
      [25, 60],
      'Travel',
      'trip',
      [''],
    ),
    type: 'labor',
  },
];

/** A kit of one category: how many of which kinds of products, all billed alike. */
export interface Kit {
  name: string;
  category: string;
  parts: readonly (readonly [count: number, category: string])[];
  term: '' | 'month';
}

/** The first part of a kit is in its name. */
export const kits: readonly Kit[] = [
  {
    name: 'New starter kit',
    category: 'Starter kits',
    parts: [
      [1, 'Laptops'],
      [1, 'Docks'],
      [2, 'Monitors'],
      [1, 'Headsets'],
    ],
    term: '',
  },
  {
    name: 'Home office kit',
    category: 'Starter kits',
    parts: [
      [1, 'Laptops'],
      [1, 'Monitors'],
      [1, 'Headsets'],
    ],
    term: '',
  },
  {
    name: 'Front desk kit',
    category: 'Starter kits',
    parts: [
      [1, 'Desktops'],
      [2, 'Monitors'],
      [1, 'Telephones'],
      [1, 'Label printers'],
    ],
    term: '',
  },
  {
    name: 'Secure workplace',
    category: 'Starter kits',
    parts: [
      [1, 'Office suites'],
      [1, 'Endpoint protection'],
      [1, 'Endpoint care'],
    ],
    term: 'month',
  },
  {
    name: 'Branch office in a box',
    category: 'Branch offices',
    parts: [
      [1, 'Firewalls'],
      [1, 'Switches'],
      [3, 'Access points'],
      [1, 'UPS'],
    ],
    term: '',
  },
  {
    name: 'Server room refresh',
    category: 'Branch offices',
    parts: [
      [2, 'Rack servers'],
      [1, 'Storage'],
      [2, 'UPS'],
      [1, 'Racks'],
    ],
    term: '',
  },
  {
    name: 'Door and camera kit',
    category: 'Branch offices',
    parts: [
      [2, 'Door readers'],
      [2, 'Cameras'],
      [1, 'Switches'],
    ],
    term: '',
  },
];
