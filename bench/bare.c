/* The program that does nothing, for bench_start. */
int main(void)
{
    return 0;
}
