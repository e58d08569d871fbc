package fn

import "strings"

// numPictures are pictures that make sense, corner cases and nonsense.
var numPictures = strings.Fields(`9 99 999 0 00 0000 9.9 99.99 0.0 0.99 9.00 .99 .00 FM9 FM99.99 FM0.00 FM9.99 FM90.09 FM99.09 FM.99
 9,999 9,999.99 0,000 FM9,999 9G999D99 FM9G999D9 L99 FML99.9 S99 99S S9.9 9.9S FMS99 FM99S SG99 99SG MI99 99MI 9.9MI FM99MI FMMI9 PL99 99PL FM99PL PL9MI
 99PR 9.9PR FM99PR FM9.9PR 9.99EEEE 9EEEE 999EEEE 0.000EEEE RN rn FMRN FMrn RN9 9RN RNSG9 RNPL RNMI RNth 99V9 9V99 FM9V99 99V 99th 99TH FM99th 9.9th S99th
 B99 B9.9 9B9 C99 SP99 9SP 99x99 "text"99 9"9"9 99\"9 99é 9999999999 0999999999 9990 0990 9909 90999 9.990 9.909 FM9.990 FM9.909 FM000.000 FM0 FM0.0 999999.999
 9..9 9D. SS9 S9MI MI9S S9PR PR9 9PR9 9PR0 EEEE9 9EEEEEEEE 9EEEEFM FM9EEEE S9EEEE 9V.9 9.9V9 9.V9 PL9S SG9S MIPR99 99SGMI FM9,9,9,9 9,9,9,9 ,999 0,0,0 9999999999999999.99999 99999999999999999999.9999999999`)

func pictureNumCases() (out []string) {
	pics := vals("text", numPictures...)
	pics = append(pics, "text:", "text: 9 9 ", "text:FM 99", "text:9 9.9 9", "text:99 MI", "text:MI 99")
	out = append(out, calls("int4_to_char", vals("int4", "0", "1", "-1", "12", "-12", "485", "-9999", "2147483647", "-2147483648"), pics)...)
	out = append(out, calls("int8_to_char", vals("int8", "0", "-7", "1234", "9223372036854775807", "3999"), pics)...)
	out = append(out, calls("float8_to_char", vals("float8", "0", "-0", "0.5", "-0.125", "3.14159265", "-12.5", "12345.678", "1e20", "1e-9", "nan", "inf", "-inf", "99.995", "123456789012345.6"), pics)...)
	out = append(out, calls("float4_to_char", vals("float4", "0.1", "-12.5", "12345.678", "1e20", "nan", "-inf"), pics)...)
	out = append(out, calls("numeric_to_char", vals("numeric", "0", "0.0", "1", "-1", "0.5", "-0.45", "12", "12.5", "-12.5", "485.8", "9.999", "-1234.567", "123456789.987654321", "1e-12", "99999", "1e30", "nan", "inf", "-inf"), pics)...)
	in := vals("text", "", " ", "1", "-1", "12", "1 2", "12.5", "-12.5", "12.5-", "12-", "+12", "12+", "<12>", "1,234", "1,234.56", "-1,234", "$12", "12th", "1st", "abc", ".5", "0.5", "1.", "12345678", " 12", "12 -", "- 12", "1e5", "12.34.5", "é12", "x1y2", "-.5", "1234567.891", "0001", "(5)", "5 ", "1-2")
	out = append(out, calls("numeric_to_number", in, pics)...)
	return out
}

var datePictures = strings.Fields(`YYYY YYY YY Y Y,YYY IYYY IYY IY I CC MM MONTH Month month MON Mon mon DD DDD D DAY Day day DY Dy dy W WW IW ID IDDD Q J RM rm
 HH HH12 HH24 MI SS MS US SSSS SSSSS FF1 FF2 FF3 FF4 FF5 FF6 FF7 FF AM PM am pm A.M. P.M. a.m. p.m. AD BC ad bc A.D. B.C. a.d. b.c. TZ tz TZH TZM OF tzh tzm of
 FMYYYY FMMM FMMonth FMMONTH FMDD FMDDD FMHH24 FMHH FMMI FMSS FMMS FMDay FMRM FMCC FMWW FMIW FMIYYY FMYY FMQ FMOF FMJ TMMonth TMMON TMDay tmday TMdy TMRM
 DDth DDTH MMth YYYYth HH24TH Dth Jth Monthth FMDDth DDSP DDSPth Qth YYth CCth MSth USTH Y,YYYth IDTH
 YYYY-MM-DD YYYYMMDD HH24:MI:SS HH24:MI:SS.US "Day"DD \"DD\" "a\"b"DD yyyy-mm-dd hh24:mi:ss YyYy Mm DAy MoN Dd YYYYY DDDD HHHH HH2424 MIMI SSSSSS TZHTZM MONTHMON FXYYYY FXDD FMFMDD FM TM THDD éYYYYé DD.MM.YYYY dd/mm/yy
 YYYY"T"HH24:MI:SSOF IYYY-"W"IW-ID xDDx y,yyy abc`)

func pictureDateCases() (out []string) {
	pics := vals("text", datePictures...)
	pics = append(pics, "text:", "text:FMDay, FMDD  HH12:MI:SS", "text:Day, DD Month YYYY BC", "text: DD MON ")
	out = append(out, "set timezone = 'UTC'")
	out = append(out, calls("timestamp_to_char", vals("timestamp", "2001-02-16 20:38:40.123456", "1999-12-31 00:00:00", "2000-01-01 12:00", "0044-03-15 05:06:07.1 BC", "12345-11-30 11:59:59.999999", "0001-01-01", "2004-12-29 13:00:09.000001", "2021-01-03 23:22:21", "4714-11-24 BC", "0600-05-05 BC", "infinity"), pics)...)
	for _, zone := range []string{"America/New_York", "Asia/Kolkata", "-3:30"} {
		out = append(out, "set timezone = '"+zone+"'")
		out = append(out, calls("timestamptz_to_char", vals("timestamptz", "2001-02-16 20:38:40.123456+00", "2020-07-04 12:30:00+00", "1800-01-01 00:00+00", "-infinity"), pics)...)
	}
	out = append(out, "set timezone = 'UTC'")
	out = append(out, calls("interval_to_char", vals("interval", "0", "1 day", "15h 2m 12s", "-15h -2m -12.5s", "1 year 2 mons 3 days", "-1 year -2 mons -3 days", "13 mons", "-12 mons", "25 years", "-250 years 3 mons", "1000:30:05.000006", "-1 mon"), pics)...)
	return out
}

func pictureReadCases() (out []string) {
	out = append(out, "set timezone = 'America/New_York'")
	add := func(in, pic string) {
		out = append(out, calls("to_timestamp", vals("text", strings.Split(in, "~")...), vals("text", strings.Split(pic, "~")...))...)
	}
	add("2000-01-02~2000/1/2~20000102~2000 Jan 2~1-2-3~2000--01--02~ 2000-01-02~2000 01 02~-44-02-01~2000-13-01~2000-02-30~99-1-1~12345-1-1~2000~abc~~2000-1~200a-01-01~2000-01-02 10:11",
		"YYYY-MM-DD~YYYYMMDD~YYYY MM DD~YYYY/MM/DD~FXYYYY-MM-DD~FMYYYY-FMMM-FMDD~YYYY--MM--DD~YYYY MON DD~yyyy-mm-dd~YY-MM-DD~YYY MM DD~Y-MM-DD~MM-DD-YYYY~DD-MM-YYYY~YYYYMM-DD~YYYY-MMDD~YYYYxMMxDD~YYYY\"T\"MM DD~YYYY - MM - DD~FXYYYY MM DD~YYYY")
	add("10:11:12~1:2:3~101112~10:11:12.5~10:11:12 pm~12:00 am~12:00 pm~13:00 pm~0:10 am~24:00:00~10:60:00~10:11:60~-1:00:00~10 11 12~10h11m12s",
		"HH24:MI:SS~HH:MI:SS AM~HH12:MI PM~HH24MISS~HH24:MI:SS.MS~HH24:MI:SS.US~HH24\"h\"MI\"m\"SS\"s\"~HH:MI am~HH24:MI:SSam~HH24 MI SS~FXHH24:MI:SS")
	add("0.5~0.50~0.123~0.1234567~0.000001~12.25~1.9", "SS.MS~SS.US~SS.FF1~SS.FF3~SS.FF6~SS.FF2~SSFF3")
	add("January 5 2010~jan 5 2010~JANUARY 05, 2010~May 1 1999~Mayo 1 1999~xyz~Ja 5 2010~september 9 2009", "Month DD YYYY~MON DD YYYY~MonthDDYYYY~MON DD, YYYY~TMMonth DD YYYY~month dd yyyy")
	add("Monday 2010 5~mon 2010 5~Sun 2010 5~Tuesday 2010 200~foo", "Day YYYY MM~DY YYYY MM~Dy YYYY DDD~day YYYY DDD")
	add("2005 1~2005 53~2005 366~2004 366~2005 0~2005 -1~2005 60~0 5~2005 999", "YYYY DDD~YYYY WW~IYYY IW~IYYY IDDD~YYYY W~YYYY MM~YYYY Q~YYYY J~IYYY WW~YYYY D~YYYY ID~CC YY~CC DDD")
	add("2005 1 1~2005 53 7~2005 10 3~2004 53 0~2005 5 8", "IYYY IW ID~IYYY IW D~YYYY WW D~YYYY MM W~IYYY-IW-ID~IYY IW ID~IY IW ID")
	add("20 05~21 00~1 99~-1 44~20 2005~0 0", "CC YY~CC YYYY~CC Y~YY CC~CC YYY~CC IY")
	add("44 BC~44 bc~44 AD~44 b.c.~44 xx~-44 BC~0 BC~20 BC", "YYYY BC~YYYY AD~YYYY bc~YYYY B.C.~CC BC~YY BC")
	add("1,999~2,000 5~1999~,123~1, 99~12,345~1,2", "Y,YYY~y,yyy MM~Y,YYYth")
	add("2451545~0~1~-5~2400000.5~9999999999", "J~J HH24~FMJ")
	add("I 2000~xii 2000~VIII 2000~iv 2000~xx 2000", "RM YYYY~rm YYYY~YYYY RM")
	add("2000-01-01 10:00 +05~2000-01-01 10:00 -05:30~2000-01-01 10:00-8~2000-01-01 10:00 EST~2000-01-01 10:00+16~2000-01-01 10:00 +05:60~2000-01-01 10:00 5~2000-07-01 10:00 -03",
		"YYYY-MM-DD HH24:MI TZH~YYYY-MM-DD HH24:MI TZH:TZM~YYYY-MM-DD HH24:MITZH~YYYY-MM-DD HH24:MI TZ~YYYY-MM-DD HH24:MI OF~YYYY-MM-DD HH24:MITZM~YYYY-MM-DD HH24:MI")
	add("5th 3rd 2000~1st 2nd 2000~11 12 2000~5é 3x 2000", "DDth MMth YYYY~DD MM YYYY~DDTHMMTHYYYY~DDth MM YYYYth")
	add("3600~86399~86400~0~-1~3600 5", "SSSS~SSSSS~SSSS MI~SSSSS SS")
	add("2000-01-02 2001~2000-01-02 2000~5 5~12 13~10 10 pm", "YYYY-MM-DD YYYY~DD DD~MM MON~HH24 HH~HH HH12 AM")
	add("99999999999999999999~2147483648~-2147483649~2147483647~294277~1e5", "YYYY~FMMM~FMDDD~SS")
	add("  2000  5  ~\t2000\n5~2000..5~2000 . 5~2000, 5~2000é5~2000éé5", "YYYY MM~YYYY  MM~ YYYY MM~FXYYYY MM~YYYY.MM~YYYY..MM~YYYYMM~YYYYéMM~YYYY\"xx\"MM~YYYY...MM")
	add("97 Feb 16~15 \"text between quote marks\" 98 54 45~05121445482000~2000January09Sunday~2000 + JUN~2011x 12x 18~Feb 16 20", "YY Mon DD~HH24 \"\\\"text between quote marks\\\"\" YY MI SS~MMDDHH24MISSYYYY~YYFMMonthDDFMDay~YYYY/MON~YYYYxMMxDD~abc")
	dates := vals("text", "2000-01-02", "5874897-12-31", "5874898-01-01", "4713-01-01 BC", "4714-11-24 BC", "4714-11-23 BC", "2000-02-30", "0-1-1", "", "20 5", "12-31-99", "2000 60")
	out = append(out, calls("to_date", dates, vals("text", "YYYY-MM-DD", "YYYY-MM-DD BC", "FMYYYY-MM-DD", "MM-DD-YY", "YYYY DDD", "", "YY MM", "HH24"))...)
	return out
}
