/* Rust's random numbers under Windows come from bcryptprimitives.dll, which wine 8 lacks: this stands in (tests/windows.sh). */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length)
{
    return RtlGenRandom(bytes, length);
}
