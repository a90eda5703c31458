/* Allocates in every way that there is, N times each: `allocating N`. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const long times = argc > 1 ? atol(argv[1]) : 1;
    volatile long sum = 0;

    for (long i = 0; i < times; i++) {
        void *memory = NULL;

        free(realloc(malloc(10), 100 * (size_t)i + 1));
        free(calloc(3, 7));
        free(reallocarray(NULL, 3, 5));
        free(strdup("hello"));
        free(aligned_alloc(64, 128));
        if (posix_memalign(&memory, 64, 100) == 0)
            free(memory);
        sum += i;
    }
    /* The child's count, and what comes before it becomes another program. */
    if (argc > 2 && fork() == 0)
        execlp(argv[0], argv[0], argv[1], (char *)NULL);
    while (wait(NULL) > 0)
        ;
    return sum < 0;
}
